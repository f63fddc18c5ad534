"""Identity: who people are, how they prove it, and how a guest becomes one of them.

Owns identities (users and guests), their addresses as keyed hashes, profiles, passwords, challenges, second factors and
merge records. Words: an *identity* is a `USER` or a `GUEST_EMAIL` and owns what was bought; a *challenge* is a code or
a link that was sent to an address and must come back; a *claim* makes a guest's identity a tombstone that points to the
user who proved the address; a *second factor* is a code of an authenticator, or one for the day that it is lost; a
*step-up* proves in a session once more who it is.

Invariants: one user and one guest at most for an address, also while keys change. Nothing personal stands in the
identity itself, so scrubbing the profile erases the person and nothing else. Whether somebody has an account shows
neither in what is answered nor in how long it takes: known and unknown addresses cause the same work. Whoever has a
second factor shows it wherever they prove themselves, and an address in a token of Apple's opens no account that
exists. A claim never touches money: it publishes a fact, and whoever owns rights moves them.
"""
