"""The statements of organisations, by noun."""
