"""What is owed to owners, and paid."""
