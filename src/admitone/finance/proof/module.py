"""The manifest of the proof."""

from admitone.finance.proof import proving, routes
from admitone.finance.proof.facts import ProofWanted
from admitone.kernel.jobs import Schedule, Subscription
from admitone.kernel.manifest import Module, Table, TableClass

MODULE = Module(
    name="proof",
    contracts=routes.CONTRACTS,
    tables=(Table("verdict", TableClass.TENANT),),
    permissions=(routes.FINANCE_PROOF_R, routes.PLATFORM_PROOF_R),
    limits=(routes.RECOMPUTED,),
    facts=(ProofWanted,),
    jobs=(proving.prove_wanted, proving.prove_everybody, proving.watch),
    subscriptions=(Subscription(ProofWanted, proving.prove_wanted),),
    schedules=(
        Schedule("proof.nightly", "20 3 * * *", proving.prove_everybody),
        Schedule("proof.watch", "20 7 * * *", proving.watch),
    ),
    alerts=(proving.RED, proving.STALE),
    listed_statements=("store.LIST_WORST", "store.LIST_STALE", "store.SUM_VERDICTS", "store.SUM_CURRENCIES"),
    listed_indexes=("verdict_by_severity", "verdict_by_green"),
)
