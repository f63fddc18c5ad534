"""What is done with events."""
