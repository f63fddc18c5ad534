"""Who somebody is here: signing up, in and out, proving it again, and what they may change about it."""
