"""Organisations: who sells, who works there, and what they agreed to.

Owns organisations (what they say of themselves for the law, for invoices and for people), the versions of their public
profiles, acceptances and invitations; members, overrides and modules are authority's, and are changed from here. Words:
a *mother* is an organisation that is a group of its own, a *branch* belongs to the group of its mother; a member of the
*group* is one in all its branches or in some, an *override* says what somebody is in one branch instead. The *official
e-mail* is the address for which the organisation proved that it reads it. A *showcase* says whether a block of the
profile has something in it.

Invariants: only organisations own what is sold, and people act as their members (ORG-002). Nobody gives what they do
not have, or a rank that is not below their own; an owner makes owners. A group always has an owner. The settings cannot
be switched off. Nobody becomes a member without having said yes. What is critical waits for a verified official e-mail.
"""
