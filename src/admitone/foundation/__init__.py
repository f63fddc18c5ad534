"""What every sale stands on: who people are, what organisations are, who may do what, and letters to them."""
