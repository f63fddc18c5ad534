"""The keys of all tests, no Apple, nobody who sells or promises, wired as an entry point would: to import it is to wire
it, once per process."""

from admitone.entitlements.port import KINDS, OWN
from admitone.finance.disputes.port import EVIDENCE
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.pricing.port import PROMOTIONS, NoPromotions
from admitone.finance.sources.port import SHOPS
from admitone.foundation.identity.port import APPLE, NoApple
from admitone.kernel.crypto import KEYRING, KeyRing
from admitone.selling.fulfilment.port import RECIPES
from admitone.verticals.events.port import INVITES, NoInvites

TOY_KEY = b"a key for toys, known to everybody"
"""The same in every process: what a killed server sealed, the next one opens."""

KEYRING.wire(KeyRing({1: TOY_KEY}))
APPLE.wire(NoApple())
SHOPS.wire({})
RECIPES.wire({})
INVITES.wire(NoInvites())
EVIDENCE.wire({})
PROMOTIONS.wire(NoPromotions())
KINDS.wire({kind.name: kind for kind in OWN})
GATEWAYS.wire(Gateways([]))
