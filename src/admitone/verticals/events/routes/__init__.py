"""Events at the edge."""
