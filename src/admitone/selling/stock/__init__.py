"""Stock: how much there is of a thing, and who has some of it.

Owns: pools, portions of them, numbered units, what was given back.
Words: a *pool* is so much of something; a *hold* keeps some of it for a buyer until a certain time, and is what is
sold when it is paid for; a *portion* is what a hold has of one pool for one item; a *unit* is one of a pool that has
a number, such as a seat.
Invariants: sold + held + free = capacity, none of them below nothing; a unit has one owner or none; what a buyer has
of an item, sold and held, is never more than was allowed when it was kept; what is overdue is anybody's at once.
Never: what an item is, what it costs, who the buyer is. Those are the vertical's; here they are opaque.
"""
