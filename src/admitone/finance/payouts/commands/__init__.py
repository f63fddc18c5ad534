"""What is done about what is owed."""
