"""The tables of payouts."""
