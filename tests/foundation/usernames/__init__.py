"""The registry of usernames."""
