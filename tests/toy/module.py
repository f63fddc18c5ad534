"""The toy's manifest."""

from admitone.kernel.manifest import Module, Privacy, Table, TableClass
from tests.toy.routes import CONTRACTS

MODULE = Module(
    name="toy",
    contracts=CONTRACTS,
    tables=(
        Table("counter", TableClass.TENANT),
        Table("increment", TableClass.TENANT, Privacy.PSEUDONYMOUS, append_only=True),
        Table("profile", TableClass.IDENTITY, Privacy.PERSONAL),
        Table("nickname", TableClass.REGISTRY, Privacy.PERSONAL),
        Table("credential", TableClass.PLATFORM, Privacy.PSEUDONYMOUS),
        Table("gate", TableClass.PLATFORM),
    ),
    listed_statements=("store.LIST_OWN_INCREMENTS",),
    listed_indexes=("increment_by_identity",),
    definer_functions=("claim_nickname",),
)
