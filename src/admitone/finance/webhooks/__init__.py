"""Webhooks: what providers tell us by themselves, from the first byte to its effect (unification (d)).

Owns receipts, sealed payloads and the cursors of the poller. Words: an *arrival* is an event whose signature counted; a
*receipt* is the durable row that we got it, for ever; *resolving* finds out whose it is; *applying* lets it have its
effect, in that organisation's transaction.

Invariants: a provider hears 2xx only after receipt and job were committed together; one event is one receipt and one
job, however often it is delivered; nothing has an effect before it is known whose it is, and metadata alone never
decide that for an object that we did not create; what was said stands sealed for ninety days and in no log at all.
"""
