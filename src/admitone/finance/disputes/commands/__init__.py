"""What changes a case, one file for each reason: what payments heard, what people do, what providers answer."""
