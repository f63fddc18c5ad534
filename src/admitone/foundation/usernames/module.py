"""The manifest of the registry of usernames."""

from admitone.foundation.usernames.claiming import PER_IDENTITY, SETTINGS_RW, claim_ours, claim_own
from admitone.foundation.usernames.facts import UsernameClaimed, UsernameReleased
from admitone.foundation.usernames.handlers import forget_held
from admitone.foundation.usernames.routes import PER_ADDRESS, resolve_username
from admitone.kernel.jobs.schedules import Schedule
from admitone.kernel.manifest import Module, Privacy, Table, TableClass

MODULE = Module(
    name="usernames",
    contracts=(resolve_username, claim_own, claim_ours),
    permissions=(SETTINGS_RW,),
    limits=(PER_ADDRESS, PER_IDENTITY),
    tables=(
        Table(
            "username",
            TableClass.REGISTRY,
            Privacy.PERSONAL,
            kept_because="a name is its owner's until they leave it; usernames.forget_held takes it off after its hold",
        ),
    ),
    facts=(UsernameClaimed, UsernameReleased),
    jobs=(forget_held,),
    schedules=(Schedule("usernames.forget_held", "41 * * * *", forget_held),),
    definer_functions=(
        "claim_for_organization",
        "claim_for_people",
        "release_of_organization",
        "release_of_people",
        "resolve",
        "names_of",
        "forget",
    ),
)
