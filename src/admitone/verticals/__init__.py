"""What is sold. Each of these knows the shelves below it, and none of the others."""
