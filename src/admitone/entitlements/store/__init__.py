"""The statements of entitlements, by what they are about."""
