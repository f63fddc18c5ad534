"""What becomes of campaigns and tokens, for many at once."""
