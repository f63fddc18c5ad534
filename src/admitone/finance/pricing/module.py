"""The manifest of pricing."""

from admitone.finance.pricing import plan_routes, routes
from admitone.finance.pricing.facts import FeePolicyChanged
from admitone.finance.pricing.port import PROMOTIONS
from admitone.kernel.manifest import Module, Privacy, Table, TableClass

KEPT = "by which rule a price was made is told for as long as the payment is kept"

MODULE = Module(
    name="pricing",
    contracts=(*routes.CONTRACTS, *plan_routes.CONTRACTS),
    tables=(
        Table("fee_policy", TableClass.TENANT, Privacy.PSEUDONYMOUS, append_only=True, kept_because=KEPT),
        Table("fee_choice", TableClass.TENANT, Privacy.PSEUDONYMOUS, append_only=True, kept_because=KEPT),
        Table("platform_policy", TableClass.PLATFORM, Privacy.PSEUDONYMOUS, append_only=True, kept_because=KEPT),
    ),
    permissions=routes.PERMISSIONS,
    facts=(FeePolicyChanged,),
    ports=(PROMOTIONS,),
)
