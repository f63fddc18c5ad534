"""The manifest of the proof."""

from admitone.finance.proof import pages, proving, routes
from admitone.finance.proof.facts import ProofWanted
from admitone.kernel.jobs import Schedule, Subscription
from admitone.kernel.manifest import Module, Table, TableClass

MODULE = Module(
    name="proof",
    contracts=(*routes.CONTRACTS, *pages.CONTRACTS),
    tables=(Table("verdict", TableClass.TENANT),),
    permissions=(routes.FINANCE_PROOF_R, routes.PLATFORM_PROOF_R),
    limits=(routes.RECOMPUTED,),
    facts=(ProofWanted,),
    jobs=(proving.prove_wanted, proving.prove_everybody),
    subscriptions=(Subscription(ProofWanted, proving.prove_wanted),),
    schedules=(Schedule("proof.nightly", "20 3 * * *", proving.prove_everybody),),
    alerts=(proving.RED,),
    listed_statements=("store.LIST_WORST", "store.SUM_VERDICTS", "store.SUM_CURRENCIES"),
    listed_indexes=("verdict_by_severity",),
)
