"""The ledger's tables."""
