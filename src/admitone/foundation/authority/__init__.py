"""Authority: credentials, grants and gates, which is all that the coalesced authority read reads.

Owns sessions and keys (who is calling), members of groups with their overrides and modules (what they may do where),
and switches (what is on, and what is stopped). Words: a *group* is a mother organisation and its branches, called by
the mother's id; a *member* is what a person is in the whole group, an *override* what they are in one branch instead; a
*scope* is an area with a level (`EVENTS_RW`); a *pack* is a preset of scopes.

Invariants: permission is a pure function of member, override and modules; nothing of it is remembered longer than one
read, so what was revoked is dead at once; what is unknown is denied. A group always has an owner. A refresh token is
worth one rotation: shown twice, it ends its session. A feature is off until somebody switched it on; a stop ends by
itself, and lets money go back and people in. A key is good in one organisation, for what its maker could give it.
"""
