"""Authority's statements, by noun."""
