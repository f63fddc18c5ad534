"""The ground under every package: transactions with a scope, contracts, coalescing. No business words.

Read in this order: errors, ids, scope, driver, db, commands, batch, authority, contracts. Each module opens with the
promise it keeps.
"""
