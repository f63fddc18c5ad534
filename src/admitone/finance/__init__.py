"""Where money comes from, what it is worth to whom, and where it goes: prices, one ledger, gateways, payments."""
