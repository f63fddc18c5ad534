"""Identity's manifest."""

from admitone.foundation.identity.apple import APPLE_CLIENT_IDS, APPLE_KEYS_URL
from admitone.foundation.identity.facts import GuestClaimed, IdentityCreated, IdentityErased, IdentityVerified
from admitone.foundation.identity.handlers import rotate_keys
from admitone.foundation.identity.port import APPLE
from admitone.foundation.identity.routes import CONTRACTS
from admitone.foundation.identity.routes.passwords import CHANGES_PER_IDENTITY
from admitone.foundation.identity.routes.wire import (
    CODES_PER_IDENTITY,
    MAILS_PER_ADDRESS,
    PROOFS_PER_ADDRESS,
    REFRESHES_PER_ADDRESS,
    SHOWN_PER_IDENTITY,
)
from admitone.kernel.figures import (
    LOGIN_OF_DEVICES_PER_ADDRESS,
    LOGIN_PER_ADDRESS,
    LOGIN_PER_DEVICE,
    LOGIN_PER_IDENTITY,
    RESET_PER_IDENTITY,
)
from admitone.kernel.jobs import Schedule
from admitone.kernel.manifest import Module, Privacy, Table, TableClass

UNTIL_ERASED = "until the person is erased"

MODULE = Module(
    name="identity",
    contracts=CONTRACTS,
    tables=(
        Table("identity", TableClass.IDENTITY, Privacy.PSEUDONYMOUS, kept_because="what was bought has an owner"),
        Table("email_hash", TableClass.IDENTITY, Privacy.PSEUDONYMOUS, kept_because=UNTIL_ERASED),
        Table("profile", TableClass.IDENTITY, Privacy.PERSONAL, kept_because=UNTIL_ERASED),
        Table("password", TableClass.IDENTITY, Privacy.PSEUDONYMOUS, kept_because=UNTIL_ERASED),
        Table("challenge", TableClass.IDENTITY, Privacy.PERSONAL, retention_days=7, aged_by="expires_at"),
        Table(
            "merge",
            TableClass.IDENTITY,
            Privacy.PSEUDONYMOUS,
            append_only=True,
            kept_because="who a tombstone stands for",
        ),
        Table("apple", TableClass.IDENTITY, Privacy.PSEUDONYMOUS, kept_because=UNTIL_ERASED),
        Table("totp", TableClass.IDENTITY, Privacy.PSEUDONYMOUS, kept_because=UNTIL_ERASED),
        Table("recovery_code", TableClass.IDENTITY, Privacy.PSEUDONYMOUS, kept_because=UNTIL_ERASED),
    ),
    limits=(
        LOGIN_PER_ADDRESS,
        LOGIN_OF_DEVICES_PER_ADDRESS,
        LOGIN_PER_DEVICE,
        LOGIN_PER_IDENTITY,
        RESET_PER_IDENTITY,
        MAILS_PER_ADDRESS,
        PROOFS_PER_ADDRESS,
        REFRESHES_PER_ADDRESS,
        CHANGES_PER_IDENTITY,
        SHOWN_PER_IDENTITY,
        CODES_PER_IDENTITY,
    ),
    config=(APPLE_CLIENT_IDS, APPLE_KEYS_URL),
    ports=(APPLE,),
    facts=(IdentityCreated, IdentityVerified, GuestClaimed, IdentityErased),
    jobs=(rotate_keys,),
    schedules=(Schedule("identity.rotate_keys", "40 3 * * *", rotate_keys),),
)
