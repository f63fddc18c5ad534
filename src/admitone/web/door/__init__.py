"""One screen for the steward at the door, with and without a network."""
