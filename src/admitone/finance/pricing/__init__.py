"""Pricing: what is charged, by which rule, and the proof of it.

Owns the versions of fee policies. Words: a *policy version* is a rule for the platform's fee that never changes once
it is there; its *target* is what it is for; a *choice* is how an organisation wants its fee shown; a *snapshot* is
everything that a price was made of, frozen when somebody begins to pay.

Invariants: one function computes prices (FIN-033), in whole minor units and one order of steps (FIN-031); a snapshot
hashes to its hash for ever; a new version never touches what was priced before.
"""
