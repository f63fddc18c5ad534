"""The statements of payments."""
