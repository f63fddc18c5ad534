"""What changes receipts: receiving them, and replaying them."""
