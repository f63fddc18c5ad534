"""The statements of reconciliation: issues, runs with how far they came, and what is watched over all organisations."""
