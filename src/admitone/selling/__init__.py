"""What every vertical sells by: how much there is of a thing, and what is handed over for money."""
