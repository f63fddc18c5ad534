"""The shelf of people and organisations."""
