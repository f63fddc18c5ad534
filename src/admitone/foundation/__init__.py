"""What everything else stands on: people, organisations, who may do what, the names they go by."""
