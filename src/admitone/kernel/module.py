"""The kernel's own manifest: its tables, and who may know what stands in them."""

from admitone.kernel.manifest import Module, Privacy, Table, TableClass

MODULE = Module(
    name="kernel",
    tables=(
        Table("tenant", TableClass.TENANT),
        # An answer may say anything that the API says, so it is personal; it is kept for as long as a key is.
        Table("idempotency_key", TableClass.TENANT, Privacy.PERSONAL, retention_days=3, append_only=True),
        Table("limit_counter", TableClass.PLATFORM, Privacy.PSEUDONYMOUS),
        Table("audit_entry", TableClass.PLATFORM, Privacy.PSEUDONYMOUS, append_only=True),
        Table("migration", TableClass.PLATFORM),
    ),
)
