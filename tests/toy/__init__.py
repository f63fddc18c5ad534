"""A toy package: counters that organisations increment. It goes through every mechanism of the kernel.

Owns `toy.counter` and `toy.increment` (tenants'), `toy.profile` (a person's), `toy.nickname` (a registry) and
`toy.credential`, `toy.gate` (the platform's, read by the toy authority).
Invariants: a counter's value is the sum of its increments and never exceeds its ceiling; only an open counter counts.
"""
