"""Sources: what money is paid for, as finance knows it.

Owns no table. Words: a *source* is the thing that is paid for, a type and an opaque id of the vertical that sells it;
its *flow* says once how the money of a type moves (who is merchant, who bears the processor's fee, on which
accounts); a *shop* is a vertical as finance sees it, and an *offer* what it says about one source at the moment of
buying.

Invariants: a type that is not in the list does not exist (FIN-093); the platform is merchant of record for stays and
coupons only (FIN-007); finance never learns what a source is, only what it costs and whose money it is.
"""
