"""Events and the tickets to them.

Owns: events, their sessions and ticket types, the policies by which people get in, orders, tickets, links for guests.
Words: an *event* takes place once, in one or more *sessions*; a *ticket type* is what one can buy for it, at a price,
out of one or more *pools*; an *access policy* says who may buy and how they are let in, and is a row per version; an
*order* keeps what somebody wants until they have paid; a *ticket* is one piece of an order that was paid.
Never: decides who is let in (entitlements do), what something costs in the end (pricing does), or whether it is paid.
"""
