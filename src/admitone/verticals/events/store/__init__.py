"""The statements of events, by what they are about."""
