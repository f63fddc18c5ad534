"""Whether the books prove, as people see it."""
