"""The manifest of the ledger."""

from typing import Final

from admitone.kernel.manifest import Module, Privacy, Table, TableClass

BOOKS: Final = "books are kept for ten years and more, and nothing takes a line out of them"

MODULE = Module(
    name="ledger",
    tables=(
        # A payee may be a person.
        Table("transfer", TableClass.TENANT, Privacy.PSEUDONYMOUS, append_only=True, kept_because=BOOKS),
        Table("delta", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because="a delta leaves when it is rolled"),
        Table("balance", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because=BOOKS),
        Table("balance_day", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because=BOOKS),
        Table("seal", TableClass.TENANT, append_only=True, kept_because=BOOKS),
        Table("seal_member", TableClass.TENANT, append_only=True, kept_because=BOOKS),
    ),
)
