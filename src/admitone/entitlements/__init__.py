"""The right to enter: the one proof of access that every vertical grants and every door asks.

Owns: entitlements, the codes that show them, what happened at doors, the leases of devices that work without a network.
Words: an *entitlement* is the right; a *source* is where it came from; a *code* (QR token) shows it, is derived when it
is shown and kept as a digest; an *entry* is one use of it, and no state; a *door* is whoever scans for an event; a
*lease* is so many entries that a device may let in without asking.
Never: reads of an order, a booking or a payment to decide whether somebody may enter (ENT-001).
"""
