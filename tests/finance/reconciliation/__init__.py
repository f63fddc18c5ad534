"""Reconciliation: the ledger against what providers moved."""
