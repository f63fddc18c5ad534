"""The manifest of payments."""

from admitone.finance.gateways.port import GATEWAYS
from admitone.finance.payments.facts import FACTS
from admitone.finance.payments.model import INTENT, PAYMENT, RECEIPT
from admitone.kernel.manifest import Module, Privacy, Table, TableClass

TEN_YEARS = "the law wants payments for ten years, and who paid is an id that tells nothing once the person is erased"

MODULE = Module(
    name="payments",
    tables=(
        Table("payment", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because=TEN_YEARS),
        Table("payment_fact", TableClass.TENANT, append_only=True),
        Table("gateway_intent", TableClass.TENANT),
        Table("unapplied_receipt", TableClass.TENANT),
        Table("account", TableClass.TENANT),
        Table("risk_hold", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because="who held whom is part of the trail"),
        Table("free_claim", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because="once is once, also next year"),
        Table("provider_ref", TableClass.REGISTRY),
    ),
    ports=(GATEWAYS,),
    lifecycles=(PAYMENT, RECEIPT, INTENT),
    facts=FACTS,
    listed_statements=("store.payments.FIND_OWN",),
    listed_indexes=("payment_of_identity", "payment_overdue", "gateway_intent_unsettled"),
    definer_functions=("put_refs", "find_refs"),
)
