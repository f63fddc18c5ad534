"""What can be done to organisations and their teams, by verb."""
