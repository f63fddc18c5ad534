"""Where providers knock, and where operators look."""
