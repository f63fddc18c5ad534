"""Who may what, over all roles, packs, scopes and modules, against a table that is written out and not computed."""

from datetime import UTC, datetime, timedelta
from itertools import combinations, product
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admitone.foundation.authority.errors import ModuleDisabled
from admitone.foundation.authority.model import (
    Denial,
    Known,
    KnownSession,
    Level,
    MemberRole,
    Membership,
    OrganizationModule,
    RolePack,
)
from admitone.foundation.authority.policy import (
    AREAS,
    PACKS,
    covers,
    decide,
    includes,
    is_scope,
    membership_in,
    scopes_of,
    why_not,
)
from admitone.kernel.authority import Ask, Audience, Granted, PermissionDenied
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.scope import Caller

EVERY_MODULE = frozenset(OrganizationModule)
NEEDED_MODULE = {
    "EVENTS": {"EVENTOS"},
    "PADEL": {"TORNEIOS"},
    "RESERVAS": {"RESERVAS"},
    "FINANCE": {"FINANCEIRO"},
    "CRM": {"CRM"},
    "SHOP": {"LOJA"},
    "TEAM": {"STAFF"},
    "SETTINGS": {"DEFINICOES"},
    "CHECKIN": {"EVENTOS", "TORNEIOS"},
}
PERMISSIONS = [f"{area}_{level}" for area in NEEDED_MODULE for level in ("R", "RW")]
FINE = ["PADEL_MATCHES_RW", "PADEL_LIVE_RW", "PADEL_REGISTRATIONS_RW", "PADEL_REGISTRATIONS_R"]

EVERYTHING = {*PERMISSIONS, *FINE}
MAY: dict[tuple[str, str | None], set[str]] = {
    ("OWNER", None): EVERYTHING,
    ("CO_OWNER", None): EVERYTHING,
    ("ADMIN", None): EVERYTHING - {"FINANCE_RW"},
    ("STAFF", None): {
        *("CHECKIN_R", "CHECKIN_RW", "RESERVAS_R", "RESERVAS_RW", "EVENTS_R", "PADEL_R", "PADEL_REGISTRATIONS_R"),
        *("CRM_R", "SHOP_R"),
    },
    ("TRAINER", None): {"RESERVAS_R", "PADEL_R", "PADEL_REGISTRATIONS_R"},
    ("PROMOTER", None): {"EVENTS_R"},
    ("VIEWER", None): {"EVENTS_R", "PADEL_R", "PADEL_REGISTRATIONS_R", "RESERVAS_R", "SHOP_R", "CHECKIN_R"},
    ("ADMIN", "CLUB_MANAGER"): {
        *("PADEL_R", "PADEL_RW", "RESERVAS_R", "RESERVAS_RW", "CHECKIN_R", "CHECKIN_RW", "CRM_R", "CRM_RW"),
        *("TEAM_R", "SETTINGS_R", *FINE),
    },
    ("STAFF", "TOURNAMENT_DIRECTOR"): {
        *("PADEL_R", "PADEL_RW", "EVENTS_R", "EVENTS_RW", "CHECKIN_R", "CHECKIN_RW", "RESERVAS_R", *FINE),
    },
    ("STAFF", "FRONT_DESK"): {"CHECKIN_R", "CHECKIN_RW", "RESERVAS_R", "RESERVAS_RW", "EVENTS_R", "CRM_R"},
    ("TRAINER", "COACH"): {"RESERVAS_R", "RESERVAS_RW", "PADEL_R", "PADEL_REGISTRATIONS_R", "CRM_R"},
    ("STAFF", "REFEREE"): {
        *("PADEL_R", "PADEL_REGISTRATIONS_R", "PADEL_MATCHES_RW", "PADEL_LIVE_RW", "EVENTS_R", "CHECKIN_R"),
    },
}
"""By role, and by pack with its role: what of all that there is."""

HERE, ELSEWHERE = uuid4(), uuid4()


@pytest.mark.covers("ORG-020")
def test_there_are_seven_roles():
    assert [role.value for role in MemberRole] == [
        *("OWNER", "CO_OWNER", "ADMIN", "STAFF", "TRAINER", "PROMOTER", "VIEWER")
    ]


@pytest.mark.covers("ORG-021")
def test_every_area_needs_its_module():
    assert AREAS == NEEDED_MODULE


@pytest.mark.covers("ORG-022")
@pytest.mark.parametrize(("role", "pack"), MAY)
def test_a_role_or_pack_gives_what_its_row_says_and_nothing_else(role: str, pack: str | None):
    membership = Membership(role, pack)
    granted = {each for each in (*PERMISSIONS, *FINE) if why_not(membership, EVERY_MODULE, each) is None}
    assert granted == MAY[role, pack]


def test_the_table_knows_every_role_and_pack():
    assert {role for role, pack in MAY if pack is None} == set(MemberRole)
    assert {(PACKS[pack][0], pack) for pack in RolePack} == {each for each in MAY if each[1]}


@pytest.mark.covers("ORG-021", "ORG-012")
@pytest.mark.parametrize(("role", "pack"), MAY)
def test_whatever_is_on_a_permission_needs_both_role_and_module(role: str, pack: str | None):
    """Over every role and pack, every permission, and every set of modules that is on."""
    membership = Membership(role, pack)
    sets = [set(some) for size in range(len(EVERY_MODULE) + 1) for some in combinations(sorted(EVERY_MODULE), size)]
    for on, permission in product(sets, (*PERMISSIONS, *FINE)):
        refusal = why_not(membership, on, permission)
        if permission not in MAY[role, pack]:
            assert isinstance(refusal, PermissionDenied)
        elif not NEEDED_MODULE[permission.split("_")[0]] & on:
            assert isinstance(refusal, ModuleDisabled)
        else:
            assert refusal is None


@pytest.mark.covers("ORG-022")
def test_scopes_beside_a_role_or_pack_are_added_to_it():
    referee = Membership(MemberRole.STAFF, RolePack.REFEREE, ("FINANCE_R",))
    assert why_not(referee, EVERY_MODULE, "FINANCE_R") is None
    assert why_not(referee, EVERY_MODULE, "PADEL_LIVE_RW") is None
    assert isinstance(why_not(referee, EVERY_MODULE, "FINANCE_RW"), PermissionDenied)


@pytest.mark.covers("ORG-023")
@given(st.text(max_size=30).filter(lambda text: text not in MAY_ROLES))
def test_a_role_that_is_none_may_nothing(role: str):
    assert all(why_not(Membership(role), EVERY_MODULE, each) is not None for each in PERMISSIONS)


@pytest.mark.covers("ORG-023")
@pytest.mark.parametrize(
    "role", ["owner", "Owner", "OWNER ", " OWNER", "OWNER\0", "OWNERS", "ＯＷＮＥＲ", "CO-OWNER", "ROOT", "*", ""]
)
def test_a_role_that_almost_is_one_may_nothing(role: str):
    assert all(why_not(Membership(role), EVERY_MODULE, each) is not None for each in PERMISSIONS)


@pytest.mark.covers("ORG-023")
@given(st.text(max_size=30).filter(lambda text: text.partition("_")[0] not in NEEDED_MODULE))
def test_a_permission_that_is_none_is_given_to_nobody(permission: str):
    assert why_not(Membership(MemberRole.OWNER), EVERY_MODULE, permission) is not None


@pytest.mark.covers("ORG-023")
@given(st.text(max_size=20), st.sampled_from(PERMISSIONS))
def test_a_scope_that_is_none_gives_nothing(scope: str, permission: str):
    if not is_scope(scope):
        assert not covers([scope], permission)


@pytest.mark.covers("ORG-023")
def test_nobody_is_anything_without_a_membership():
    assert all(isinstance(why_not(None, EVERY_MODULE, each), PermissionDenied) for each in PERMISSIONS)


@pytest.mark.covers("ORG-023")
def test_a_pack_that_is_none_leaves_the_role():
    assert scopes_of(Membership(MemberRole.VIEWER, "EMPEROR")) == scopes_of(Membership(MemberRole.VIEWER))


GROUP_ADMIN = Membership(MemberRole.ADMIN)
OWNER = Membership(MemberRole.OWNER)
LIMITED = Membership(MemberRole.ADMIN, branches=(ELSEWHERE,))
VIEWER_HERE = Membership(MemberRole.VIEWER, level=Level.BRANCH)


@pytest.mark.covers("ORG-010", "ORG-011")
@pytest.mark.parametrize(
    ("member", "override", "is_then"),
    [
        (None, None, None),
        (GROUP_ADMIN, None, GROUP_ADMIN),
        (LIMITED, None, None),
        (Membership(MemberRole.ADMIN, branches=(HERE,)), None, Membership(MemberRole.ADMIN, branches=(HERE,))),
        (None, VIEWER_HERE, VIEWER_HERE),
        (GROUP_ADMIN, VIEWER_HERE, VIEWER_HERE),
        (LIMITED, VIEWER_HERE, VIEWER_HERE),
        (GROUP_ADMIN, Denial(), None),
        (None, Denial(), None),
        (OWNER, Denial(), OWNER),
        (OWNER, VIEWER_HERE, OWNER),
    ],
)
def test_an_override_beats_the_group_except_about_its_owners(
    member: Membership | None, override: Membership | Denial | None, is_then: Membership | None
):
    assert membership_in(HERE, member, override) == is_then


@pytest.mark.parametrize(
    ("held", "scope", "has"),
    [
        ({"PADEL_*"}, "PADEL_*", True),
        ({"PADEL_*"}, "PADEL_RW", True),
        ({"PADEL_*"}, "PADEL_LIVE_*", True),
        ({"PADEL_RW"}, "PADEL_*", False),
        ({"PADEL_RW"}, "PADEL_LIVE_RW", True),
        ({"PADEL_LIVE_RW"}, "PADEL_RW", False),
        ({"PADEL_R"}, "PADEL_RW", False),
        ({"EVENTS_*"}, "PADEL_R", False),
        (set(), "PADEL_R", False),
    ],
)
def test_one_has_a_scope_when_what_one_has_covers_all_of_it(held: set[str], scope: str, has: bool):
    assert includes(held, scope) is has


@pytest.mark.covers("ORG-023")
@given(st.sampled_from(PERMISSIONS), st.text(max_size=20))
def test_the_decision_for_one_organization_says_nothing_about_another(permission: str, role: str):
    """Whoever is an owner here is asked again there, and is nobody."""
    now = datetime(2026, 5, 1, tzinfo=UTC)
    session = KnownSession(uuid4(), IdentityId.new(), True, now - timedelta(minutes=1), False)
    ask = Ask(Audience.ORGANIZATION, "token", OrganizationId(HERE), permission, None, Caller())
    here = Known(session=session, member=OWNER, modules=EVERY_MODULE)
    there = Known(session=session, override=Membership(role, level=Level.BRANCH), modules=EVERY_MODULE)
    assert isinstance(decide(ask, here, frozenset(), now), Granted)
    if role not in MAY_ROLES:
        assert isinstance(decide(ask, there, frozenset(), now), PermissionDenied)


MAY_ROLES = {role for role, _ in MAY}
