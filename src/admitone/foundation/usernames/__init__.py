"""Usernames: the names that people and organisations go by in public, in one namespace (DORG.08).

Words: a name is *claimed* by an owner (a person or an organisation) and is then *live*. Whoever takes another name or
*releases* theirs leaves the old one *held*: for 15 days it is nobody's but the former holder's to take back. Whoever
left a name within those days may take that one back and no other: that is the *cooldown*.

Invariants: a name has one row at most; an owner has one live name at most; what is written is in its normal form
(`policy.normalise`). Nothing else writes a username anywhere: whoever needs to show one asks `api`.
"""
