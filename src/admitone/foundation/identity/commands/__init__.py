"""What can be done with identities, by verb."""
