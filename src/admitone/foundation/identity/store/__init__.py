"""Identity's statements, by noun."""
