"""The keys of all tests, no Apple, nobody who sells or promises, the showcase of events, wired as an entry point would: to import it is to wire
it, once per process."""

from admitone.entitlements.port import KINDS, OWN
from admitone.entrypoints.modules import MODULES
from admitone.finance.disputes.port import EVIDENCE
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.pricing.port import PROMOTIONS, NoPromotions
from admitone.finance.sources.port import SHOPS
from admitone.foundation.identity.port import APPLE, NoApple
from admitone.foundation.organizations.api import ProfileBlock
from admitone.foundation.organizations.port import SHOWCASES
from admitone.kernel.alerts.runbooks import RULES
from admitone.kernel.crypto import KEYRING, KeyRing
from admitone.selling.fulfilment.port import RECIPES
from admitone.verticals.events.api import is_anything_on
from admitone.verticals.events.port import INVITES, NoInvites
from admitone.web.port import OPERATOR, Operator

TOY_KEY = b"a key for toys, known to everybody"
"""The same in every process: what a killed server sealed, the next one opens."""

KEYRING.wire(KeyRing({1: TOY_KEY}))
RULES.wire({rule.name: rule for module in MODULES for rule in module.alerts})
APPLE.wire(NoApple())
SHOPS.wire({})
RECIPES.wire({})
INVITES.wire(NoInvites())
SHOWCASES.wire({ProfileBlock.EVENTS_AGENDA: is_anything_on})
EVIDENCE.wire({})
PROMOTIONS.wire(NoPromotions())
KINDS.wire({kind.name: kind for kind in OWN})
GATEWAYS.wire(Gateways([]))
OPERATOR.wire(Operator("Casa dos Testes, Lda.", ("Rua do Teste 1", "Porto"), "ola@casa.example", "PT 501234567"))
