"""What a buyer finds: discover, organisations, events, and what the law wants said."""
