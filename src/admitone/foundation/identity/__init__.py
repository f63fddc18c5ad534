"""Identity: who people are, how they prove it, and how a guest becomes one of them.

Owns identities (users and guests), their addresses as keyed hashes, profiles, passwords, challenges, second factors and
merge records. Words: an *identity* is a `USER` or a `GUEST_EMAIL` and owns what was bought; a *challenge* is a code or
a link that was sent to an address and must come back; a *claim* makes a guest's identity a tombstone that points to the
user who proved the address.

Invariants: one user and one guest at most for an address, also while keys change. Nothing personal stands in the
identity itself, so scrubbing the profile erases the person and nothing else. Whether somebody has an account shows
neither in what is answered nor in how long it takes: known and unknown addresses cause the same work. A claim never
touches money: it publishes a fact, and whoever owns rights moves them.
"""
