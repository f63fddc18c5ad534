"""How often: the figures of Appendix A1 (rate limits, closed), with A3, A7 and the coupons' own.

Promise: each figure stands here once, under the name by which it is spoken of; packages import it and say, where it
counts something in the request, where that stands (`LOGIN_PER_IDENTITY.on(...)`). Changing one is changing a policy.
"""

from datetime import timedelta
from typing import Final

from admitone.kernel.limits import Limit, Per
from admitone.kernel.streaks import Streak

MINUTE: Final = 60
HOUR: Final = 3_600

QUARTER_THEN_HOUR: Final = (timedelta(minutes=15), timedelta(minutes=60))
"""A1: 15 min, then 60 min on repeated failure. FIN-083 allows the same span."""

# A1, login (IDN-020). The identity is the digest of the e-mail that was tried. Devices that we know are counted apart
# from strangers, so that none of those locks the owner out: all of one account together, so that nobody gains by having
# many; and by place, because each attempt costs us a comparison of passwords. For that A1 has no figure.
LOGIN_PER_ADDRESS: Final = Limit("login.per_address", 10, 10 * MINUTE, Per.ADDRESS)
LOGIN_PER_IDENTITY: Final = Limit("login.per_identity", 5, 10 * MINUTE, Per.REQUEST, cooldown=QUARTER_THEN_HOUR)
LOGIN_PER_DEVICE: Final = Limit("login.per_device", 5, 10 * MINUTE, Per.REQUEST, cooldown=QUARTER_THEN_HOUR)
LOGIN_OF_DEVICES_PER_ADDRESS: Final = Limit("login.of_devices_per_address", 60, 10 * MINUTE, Per.ADDRESS)

# A1, reset password and magic link (IDN-021): one figure for both, because both send a mail to the same person.
RESET_PER_IDENTITY: Final = Limit("reset.per_identity", 3, 30 * MINUTE, Per.REQUEST)

# A1, createCheckout (FIN-013): both at once.
CHECKOUT_PER_IDENTITY_AND_SOURCE: Final = Limit(
    "checkout.per_identity_and_source", 10, 5 * MINUTE, Per.IDENTITY_AND_REQUEST
)
CHECKOUT_PER_ADDRESS: Final = Limit("checkout.per_address", 30, 5 * MINUTE, Per.ADDRESS)

# A1, InviteToken validate and claim (IDN-022): "per IP/device" is read as each of them.
INVITE_PER_ADDRESS: Final = Limit("invite.per_address", 10, 10 * MINUTE, Per.ADDRESS)
INVITE_PER_DEVICE: Final = Limit("invite.per_device", 10, 10 * MINUTE, Per.DEVICE)

# A1, scanner (ENT-034): the burst lets a queue in, the mean keeps a device from doing so all evening. The mean is taken
# over ten minutes: the window in which A7 and SAF-016 judge a scanner, and room for five full minutes at the burst.
SCANS_PER_DEVICE_BURST: Final = Limit("scans.per_device_burst", 120, MINUTE, Per.DEVICE)
SCANS_PER_DEVICE_MEAN: Final = Limit("scans.per_device_mean", 60 * 10, 10 * MINUTE, Per.DEVICE)
SCANS_PER_DEVICE: Final = (SCANS_PER_DEVICE_BURST, SCANS_PER_DEVICE_MEAN)

# A1 and A7, denied scans (ENT-034): staff sign in again, and the device pauses. A7 names no length: the five minutes of
# A1. "In a row" is remembered for a long shift; what was denied the day before belongs to nobody's evening.
PAUSE_OF_A_SCANNER: Final = timedelta(minutes=5)
DENIED_IN_A_ROW: Final = Streak("denied.in_a_row", 10, 12 * HOUR, in_a_row=True, pause=PAUSE_OF_A_SCANNER)
DENIED_PER_EVENT_AND_DEVICE: Final = Streak("denied.per_event_and_device", 20, 10 * MINUTE, pause=PAUSE_OF_A_SCANNER)

# A3, free checkout (FIN-082, FIN-083).
FREE_CHECKOUT_PER_IDENTITY: Final = Limit(
    "free_checkout.per_identity", 5, 10 * MINUTE, Per.IDENTITY, cooldown=QUARTER_THEN_HOUR
)
FREE_CHECKOUT_PER_ADDRESS: Final = Limit("free_checkout.per_address", 10, 10 * MINUTE, Per.ADDRESS)
FREE_CHECKOUT_FAILURES: Final = Streak("free_checkout.failures", 3, 10 * MINUTE)
# "Several identities on one device/IP" has no figure in A3: these are ours. Behind one address live a family or an
# office, on one device fewer. Who is seen at a place is counted there once.
FREE_CHECKOUT_SEEN: Final = Limit("free_checkout.seen", 1, 10 * MINUTE, Per.REQUEST)
FREE_CHECKOUT_PEOPLE_PER_DEVICE: Final = Limit("free_checkout.people_per_device", 3, 10 * MINUTE, Per.REQUEST)
FREE_CHECKOUT_PEOPLE_PER_ADDRESS: Final = Limit("free_checkout.people_per_address", 5, 10 * MINUTE, Per.REQUEST)

# Coupons (CPN-031 to CPN-033): the ban after five failures ends by itself, and no step-up opens it earlier.
COUPONS_PER_IDENTITY: Final = Limit("coupons.per_identity", 3, MINUTE, Per.IDENTITY)
VALIDATIONS_PER_MERCHANT: Final = Limit("coupon_validations.per_merchant", 60, MINUTE, Per.ORGANIZATION)
COUPON_FAILURES: Final = Streak(
    "coupon.failures", 5, 12 * HOUR, in_a_row=True, step_up=False, pause=timedelta(minutes=15)
)

PASSED_BY_STEP_UP: Final = (FREE_CHECKOUT_FAILURES,)
"""Streaks of people, who go on once they have proved that it is them."""
