"""Who may make whom what, over all roles; and the gate of the official e-mail, which is a function and no more."""

from datetime import UTC, datetime
from itertools import product
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admitone.foundation.authority.api import (
    AREAS,
    PACKS,
    Denial,
    Level,
    MemberRole,
    Membership,
    RolePack,
    covers,
    membership_in,
    scopes_of,
)
from admitone.foundation.organizations.errors import (
    GrantNotAllowed,
    LastOwner,
    MemberNotFound,
    OfficialEmailNotVerified,
    OfficialEmailRequired,
    OwnerOfGroup,
    PackWithoutItsRole,
    UnknownScope,
)
from admitone.foundation.organizations.model import Change, Changed, OfficialEmail
from admitone.foundation.organizations.policy import (
    Branch,
    Group,
    rank_of,
    reach_of,
    why_not_change,
    why_not_leave,
    why_not_official,
)
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.scope import Caller

OWNER, CO_OWNER, ADMIN, STAFF, TRAINER, PROMOTER, VIEWER = MemberRole
GIVES: dict[str, set[str]] = {
    OWNER: {OWNER, CO_OWNER, ADMIN, STAFF, TRAINER, PROMOTER, VIEWER},
    CO_OWNER: {ADMIN, STAFF, TRAINER, PROMOTER, VIEWER},
    ADMIN: {STAFF, TRAINER, PROMOTER, VIEWER},
    STAFF: {TRAINER, PROMOTER, VIEWER},
    TRAINER: set(),
    PROMOTER: set(),
    VIEWER: set(),
}
"""What each makes somebody who was nothing, were they let to the team: a trainer has not even what a viewer sees."""
CHANGES: dict[str, set[str]] = {
    **{
        role: {below for below in MemberRole if rank_of(Membership(below)) > rank_of(Membership(role))}
        for role in GIVES
    },
    OWNER: {*MemberRole},
}
"""Whom each may take out."""

EVERY_SCOPE = [f"{area}_{level}" for area in AREAS for level in ("R", "RW", "*")]
MEMBERSHIPS = st.one_of(
    st.builds(
        Membership,
        st.sampled_from([role.value for role in MemberRole]),
        st.none(),
        st.lists(st.sampled_from(EVERY_SCOPE), max_size=4, unique=True).map(tuple),
    ),
    st.sampled_from(list(RolePack)).map(lambda pack: Membership(PACKS[pack][0], pack)),
)


@pytest.mark.parametrize(("actor", "role"), [*product(GIVES, MemberRole)])
def test_who_gives_which_role(actor: str, role: str):
    allowed = why_not_change(Membership(actor), None, Membership(role)) is None
    assert allowed is (role in GIVES[actor])


@pytest.mark.parametrize(("actor", "role"), [*product(GIVES, MemberRole)])
def test_nobody_gives_a_rank_that_is_not_below_their_own_but_an_owner(actor: str, role: str):
    refusal = why_not_change(Membership(actor), None, Membership(role))
    if actor != OWNER and rank_of(Membership(role)) <= rank_of(Membership(actor)):
        assert refusal == GrantNotAllowed(reason="RANK_OF_ROLE")


@pytest.mark.parametrize(("actor", "target"), [*product(CHANGES, MemberRole)])
def test_who_takes_out_whom(actor: str, target: str):
    allowed = why_not_change(Membership(actor), Membership(target), None) is None
    assert allowed is (target in CHANGES[actor])


@pytest.mark.parametrize("role", MemberRole)
def test_everybody_may_leave_and_nobody_climbs_by_themselves(role: str):
    own = Membership(role)
    assert why_not_change(own, own, None, oneself=True) is None
    for higher in MemberRole:
        if rank_of(Membership(higher)) < rank_of(own):
            assert why_not_change(own, own, Membership(higher), oneself=True) is not None


@pytest.mark.parametrize("pack", RolePack)
def test_an_administrator_hires_with_every_pack_of_a_lower_rank(pack: RolePack):
    given = Membership(PACKS[pack][0], pack)
    allowed = why_not_change(Membership(ADMIN), None, given) is None
    assert allowed is (PACKS[pack][0] is not ADMIN)


@pytest.mark.parametrize("scope", ["FINANCE_RW", "FINANCE_*", "PADEL_*"])
def test_nobody_gives_a_scope_that_they_do_not_have(scope: str):
    given = Membership(STAFF, None, (scope,))
    assert why_not_change(Membership(ADMIN), None, given) == GrantNotAllowed(reason="SCOPES")
    assert why_not_change(Membership(OWNER), None, given) is None


def test_a_preset_that_permits_more_than_one_has_cannot_be_given():
    """A club manager who was trusted with the team has no events to give."""
    manager = Membership(ADMIN, RolePack.CLUB_MANAGER, ("TEAM_RW",))
    director = Membership(STAFF, RolePack.TOURNAMENT_DIRECTOR)
    assert why_not_change(manager, None, director) == GrantNotAllowed(reason="SCOPES")
    assert why_not_change(manager, None, Membership(TRAINER, RolePack.COACH)) is None


@given(MEMBERSHIPS, MEMBERSHIPS, MEMBERSHIPS, st.sampled_from(EVERY_SCOPE))
def test_whatever_is_given_permits_nothing_that_the_giver_may_not(
    actor: Membership, before: Membership, after: Membership, scope: str
):
    if why_not_change(actor, before, after) is None:
        permission = scope.replace("_*", "_RW")
        assert not covers(scopes_of(after), permission) or covers(scopes_of(actor), permission)
        assert actor.role == OWNER or rank_of(after) > rank_of(actor)


@given(st.text(max_size=20).filter(lambda text: text not in {*MemberRole}))
def test_a_role_that_is_none_gives_nothing_and_is_not_given(role: str):
    assert why_not_change(Membership(role), None, Membership(VIEWER)) == GrantNotAllowed(reason="NOT_A_MEMBER")
    assert why_not_change(None, None, Membership(VIEWER)) == GrantNotAllowed(reason="NOT_A_MEMBER")


# -- One after another


def a_change(by: IdentityId, target: IdentityId, to: Membership | Denial | None, **group: object) -> Change:
    return Change(Caller(by), target, to, **group)  # type: ignore[arg-type]


def test_of_two_owners_who_remove_each_other_in_one_batch_one_stays():
    one, two = IdentityId.new(), IdentityId.new()
    group = Group({one.uuid: Membership(OWNER), two.uuid: Membership(OWNER)})
    first, second = group.decide(a_change(one, two, None)), group.decide(a_change(two, one, None))
    assert isinstance(first, Changed)
    assert second == GrantNotAllowed(reason="NOT_A_MEMBER")
    assert group.removed() == [two.uuid]


def test_the_last_owner_is_neither_removed_nor_demoted():
    owner, other = IdentityId.new(), IdentityId.new()
    group = Group({owner.uuid: Membership(OWNER), other.uuid: Membership(CO_OWNER)})
    assert group.decide(a_change(owner, owner, None)) == LastOwner()
    assert group.decide(a_change(owner, owner, Membership(VIEWER))) == LastOwner()
    assert isinstance(group.decide(a_change(owner, other, Membership(OWNER))), Changed)
    assert isinstance(group.decide(a_change(owner, owner, Membership(VIEWER))), Changed)
    assert group.written() == {owner.uuid: Membership(VIEWER), other.uuid: Membership(OWNER)}


def test_a_pack_comes_with_its_role_and_scopes_exist():
    owner, other = IdentityId.new(), IdentityId.new()
    group = Group({owner.uuid: Membership(OWNER), other.uuid: Membership(VIEWER)})
    wrong = Membership(ADMIN, RolePack.REFEREE)
    assert group.decide(a_change(owner, other, wrong)) == PackWithoutItsRole(role="STAFF")
    for scope in ("EVERYTHING_*", "PADEL_", "PADEL_ROOT", "PLATFORM_RW"):
        assert group.decide(a_change(owner, other, Membership(STAFF, None, (scope,)))) == UnknownScope(scope=scope)
    assert group.decide(a_change(owner, IdentityId.new(), Membership(VIEWER))) == MemberNotFound()


def test_a_branch_says_nothing_about_owners_of_the_group_and_makes_none():
    branch, owner, admin = OrganizationId.new(), IdentityId.new(), IdentityId.new()
    known = {owner.uuid: Membership(OWNER), admin.uuid: Membership(ADMIN)}
    team = Branch(branch.uuid, {})
    for to in (Denial(), Membership(VIEWER, level=Level.BRANCH)):
        assert team.decide(a_change(owner, owner, to, group=known)) == OwnerOfGroup()
    own = Membership(OWNER, level=Level.BRANCH)
    assert team.decide(a_change(owner, admin, own, group=known)) == OwnerOfGroup()


def test_lifting_a_denial_gives_back_what_the_group_says_so_one_must_be_able_to_give_it():
    branch, admin, other, owner = (IdentityId.new() for _ in range(4))
    known = {admin.uuid: Membership(ADMIN), other.uuid: Membership(CO_OWNER), owner.uuid: Membership(OWNER)}
    team = Branch(branch.uuid, {other.uuid: Denial()})
    assert team.decide(a_change(admin, other, None, group=known)) == GrantNotAllowed(reason="RANK_OF_ROLE")
    lifted = team.decide(a_change(owner, other, None, group=known))
    assert isinstance(lifted, Changed) and lifted.after == Membership(CO_OWNER)
    assert team.removed() == [other.uuid]


# -- Where one has what one gives

MOTHER, NORTH, SOUTH = (OrganizationId.new().uuid for _ in range(3))
LESS = [Denial(), Membership(VIEWER, level=Level.BRANCH), Membership(ADMIN, RolePack.CLUB_MANAGER, (), Level.BRANCH)]


def within(role: str, *branches: UUID) -> Membership:
    return Membership(role, None, (), Level.GROUP, branches)


@pytest.mark.covers("ORG-011")
@pytest.mark.parametrize("given", [Membership(STAFF), within(STAFF, NORTH), within(STAFF, MOTHER, NORTH)])
def test_whoever_is_limited_to_some_branches_gives_nothing_beyond_them(given: Membership):
    limited = within(ADMIN, MOTHER, SOUTH)
    reach = reach_of(limited, {})
    assert why_not_change(limited, None, given, reach=reach) == GrantNotAllowed(reason="BRANCHES")
    assert why_not_change(limited, None, within(STAFF, SOUTH), reach=reach) is None
    assert why_not_change(Membership(OWNER), None, given, reach=reach_of(Membership(OWNER), {NORTH: Denial()})) is None


@pytest.mark.parametrize("less", LESS)
def test_whoever_is_less_in_a_branch_gives_nothing_that_reaches_it(less: Membership | Denial):
    reach = reach_of(Membership(ADMIN), {NORTH: less})
    for too_far in (Membership(STAFF), within(STAFF, NORTH, SOUTH)):
        assert why_not_change(Membership(ADMIN), None, too_far, reach=reach) == GrantNotAllowed(reason="BRANCHES")
    assert why_not_change(Membership(ADMIN), None, within(STAFF, SOUTH), reach=reach) is None
    more = reach_of(Membership(ADMIN), {NORTH: Membership(CO_OWNER, level=Level.BRANCH)})
    assert why_not_change(Membership(ADMIN), None, Membership(STAFF), reach=more) is None


def test_nobody_lifts_their_own_limit_and_everybody_may_make_it_narrower():
    own = within(ADMIN, MOTHER, NORTH)
    reach = reach_of(own, {NORTH: Denial()})
    for wider in (Membership(ADMIN), within(ADMIN, MOTHER, SOUTH), Membership(VIEWER)):
        refusal = why_not_change(own, own, wider, oneself=True, reach=reach)
        assert refusal == GrantNotAllowed(reason="BRANCHES")
    for less in (within(ADMIN, NORTH), within(STAFF, MOTHER, NORTH), None):
        assert why_not_change(own, own, less, oneself=True, reach=reach) is None


def test_what_reaches_further_than_oneself_can_still_be_made_less():
    limited = within(ADMIN, MOTHER)
    reach, before = reach_of(limited, {}), Membership(STAFF)
    assert why_not_change(limited, before, Membership(VIEWER), reach=reach) is None
    assert why_not_change(limited, before, Membership(STAFF, None, ("CRM_RW",)), reach=reach) is not None
    assert why_not_change(limited, within(STAFF, MOTHER), Membership(VIEWER), reach=reach) is not None


@given(
    st.one_of(st.none(), st.sets(st.sampled_from([MOTHER, NORTH, SOUTH]), min_size=1)),
    st.one_of(st.none(), st.sets(st.sampled_from([MOTHER, NORTH, SOUTH]), min_size=1)),
    st.dictionaries(st.sampled_from([MOTHER, NORTH, SOUTH]), st.sampled_from(LESS)),
)
def test_whatever_is_given_in_a_group_counts_only_where_its_giver_is_as_much(
    own: set[UUID] | None, given: set[UUID] | None, instead: dict[UUID, Membership | Denial]
):
    actor = Membership(ADMIN, None, (), Level.GROUP, None if own is None else tuple(own))
    after = Membership(STAFF, None, (), Level.GROUP, None if given is None else tuple(given))
    if why_not_change(actor, None, after, reach=reach_of(actor, instead)) is None:
        for branch in (MOTHER, NORTH, SOUTH):
            if membership_in(branch, after, None):
                assert membership_in(branch, actor, instead.get(branch)) == actor


def test_the_highest_of_all_that_somebody_is_decides_who_may_take_them_out():
    staff, admin_in_branch = Membership(STAFF), Membership(ADMIN, level=Level.BRANCH)
    refused = GrantNotAllowed(reason="RANK_OF_MEMBER")
    asked = {"oneself": False, "is_last_owner": False}
    assert why_not_leave(Membership(ADMIN), [staff, admin_in_branch], **asked) == refused
    assert why_not_leave(Membership(ADMIN), [staff], **asked) is None
    assert why_not_leave(Membership(CO_OWNER), [staff, admin_in_branch], **asked) is None


# -- The gate

CLUB = OrganizationId.parse("org_0198c9a40000700080000000000000aa")
VERIFIED_AT = datetime(2026, 1, 27, 10, tzinfo=UTC)


@pytest.mark.covers("ORG-017")
@pytest.mark.parametrize(
    ("email", "verified_at", "kind"),
    [
        (None, None, OfficialEmailRequired),
        ("", None, OfficialEmailRequired),
        (None, VERIFIED_AT, OfficialEmailRequired),
        ("finance@org.pt", None, OfficialEmailNotVerified),
        ("finance@org.pt", VERIFIED_AT, None),
    ],
)
def test_what_is_sensitive_needs_an_official_e_mail_that_is_verified(
    email: str | None, verified_at: datetime | None, kind: type | None
):
    asked = [why_not_official(OfficialEmail(CLUB, email, verified_at), "PAYOUTS_SETTINGS", "req_abc") for _ in "ab"]
    assert asked[0] == asked[1]
    assert (type(asked[0]) if asked[0] else None) is kind


@pytest.mark.covers("ORG-018")
def test_the_refusal_says_what_to_do_where():
    refusal = why_not_official(OfficialEmail(CLUB, "finance@org.pt"), "PAYOUTS_SETTINGS", "req_abc")
    assert refusal is not None and not refusal.retryable
    assert refusal.stated() == {
        "ok": False,
        "requestId": "req_abc",
        "email": "finance@org.pt",
        "verifyUrl": f"/org/{CLUB}/settings?tab=official-email",
        "nextStepUrl": f"/org/{CLUB}/settings?tab=official-email",
        "reasonCode": "PAYOUTS_SETTINGS",
    }
