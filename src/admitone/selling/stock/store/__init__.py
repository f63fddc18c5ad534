"""The statements of stock."""
