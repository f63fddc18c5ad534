"""What happens to a receipt after it was acknowledged: resolved by the platform, applied by its organisation."""
