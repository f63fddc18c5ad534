"""What is done to rights, and at doors."""
