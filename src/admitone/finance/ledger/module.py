"""The manifest of the ledger."""

from typing import Final

from admitone.finance.ledger import routes
from admitone.finance.ledger.rolling import roll_for_a_minute
from admitone.kernel.jobs.schedules import Schedule
from admitone.kernel.manifest import Module, Privacy, Table, TableClass

BOOKS: Final = "books are kept for ten years and more, and nothing takes a line out of them"

MODULE = Module(
    name="ledger",
    contracts=routes.CONTRACTS,
    tables=(
        # A payee may be a person.
        Table("transfer", TableClass.TENANT, Privacy.PSEUDONYMOUS, append_only=True, kept_because=BOOKS),
        Table("delta", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because="a delta leaves when it is rolled"),
        Table("balance", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because=BOOKS),
        Table("balance_day", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because=BOOKS),
        Table("seal", TableClass.TENANT, append_only=True, kept_because=BOOKS),
        Table("seal_member", TableClass.TENANT, append_only=True, kept_because=BOOKS),
    ),
    permissions=(routes.FINANCE_LEDGER_R,),
    jobs=(roll_for_a_minute,),
    schedules=(Schedule("ledger.roll", "* * * * *", roll_for_a_minute),),
    listed_statements=("store.rolling.LIST_ORGANIZATIONS",),
)
