"""The manifest of sales."""

from admitone.finance.sales import routes
from admitone.finance.sales.rebuilding import SUBSCRIPTIONS, rebuild_all
from admitone.kernel.manifest import Module, Privacy, Table, TableClass

AS_LONG = "it says no more than the payment that it follows from, and is there as long"

MODULE = Module(
    name="sales",
    contracts=routes.CONTRACTS,
    tables=(
        Table("sale_summary", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because=AS_LONG),
        Table("sale_line", TableClass.TENANT),
    ),
    permissions=(routes.FINANCE_SALES_R,),
    jobs=(*(each.kind for each in SUBSCRIPTIONS), rebuild_all),
    subscriptions=SUBSCRIPTIONS,
)
