"""What somebody may enter, and the code that shows it."""
