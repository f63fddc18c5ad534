"""What is easier than what: an order, whatever the rules are (EVT-017)."""

import pytest
from hypothesis import given
from hypothesis import strategies as some
from msgspec.structs import replace

from admitone.entitlements.api import CheckinPolicy, Method
from admitone.verticals.events.model import AccessMode, AccessPolicy, IdentityMatch
from admitone.verticals.events.policy import EASIER, tightens, why_not_policy

# Few values of each, so that policies often meet.
checkins = some.builds(
    CheckinPolicy,
    methods=some.sets(some.sampled_from(Method), min_size=1).map(lambda each: tuple(sorted(each))),
    allow_reentry=some.booleans(),
    reentry_minutes=some.integers(14, 16),
    max_entries=some.integers(1, 3),
    undo_minutes=some.integers(9, 11),
)
policies = some.builds(
    AccessPolicy,
    version=some.integers(1, 3),
    mode=some.sampled_from(AccessMode),
    guest_checkout_allowed=some.booleans(),
    login_required=some.booleans(),
    invite_token_allowed=some.booleans(),
    invite_identity_match=some.sampled_from(IdentityMatch),
    invite_token_hours=some.none() | some.integers(1, 3),
    requires_entitlement=some.booleans(),
    scanner_required=some.booleans(),
    checkin=checkins,
)


@some.composite
def easier(draw: some.DrawFn, policy: AccessPolicy) -> AccessPolicy:
    """Something that is as easy, field by field, as people would say it."""
    modes = {
        AccessMode.INVITE_ONLY: [*AccessMode],
        AccessMode.UNLISTED: [AccessMode.UNLISTED, AccessMode.PUBLIC],
        AccessMode.PUBLIC: [AccessMode.PUBLIC],
    }
    checkin = policy.checkin
    return AccessPolicy(
        version=policy.version + 1,
        mode=draw(some.sampled_from(modes[policy.mode])),
        guest_checkout_allowed=policy.guest_checkout_allowed or draw(some.booleans()),
        login_required=policy.login_required and draw(some.booleans()),
        invite_token_allowed=policy.invite_token_allowed or draw(some.booleans()),
        invite_identity_match=draw(some.sampled_from([policy.invite_identity_match, IdentityMatch.BOTH])),
        invite_token_hours=draw(some.integers(1, 500)),
        requires_entitlement=policy.requires_entitlement and draw(some.booleans()),
        scanner_required=policy.scanner_required and draw(some.booleans()),
        checkin=CheckinPolicy(
            methods=tuple(sorted({*checkin.methods, *draw(some.sets(some.sampled_from(Method)))})),
            allow_reentry=checkin.allow_reentry or draw(some.booleans()),
            reentry_minutes=checkin.reentry_minutes + draw(some.integers(0, 5)),
            max_entries=checkin.max_entries + draw(some.integers(0, 5)),
            undo_minutes=checkin.undo_minutes + draw(some.integers(0, 5)),
        ),
    )


def without_token_life(policy: AccessPolicy) -> AccessPolicy:
    """What the order is about: not how long new tokens live, and not which version it is."""
    return replace(policy, version=1, invite_token_hours=None)


@pytest.mark.covers("EVT-017")
@given(policies)
def test_nothing_is_harder_than_itself(policy: AccessPolicy):
    assert tightens(policy, policy) == []


@pytest.mark.covers("EVT-017")
@given(policies.flatmap(lambda each: some.tuples(some.just(each), policies | easier(each))))
def test_what_is_as_easy_both_ways_is_the_same(pair: tuple[AccessPolicy, AccessPolicy]):
    one, other = pair
    if not tightens(one, other) and not tightens(other, one):
        assert without_token_life(one) == without_token_life(other)


@pytest.mark.covers("EVT-017")
@given(policies.flatmap(lambda a: easier(a).flatmap(lambda b: some.tuples(some.just(a), some.just(b), easier(b)))))
def test_whatever_is_relaxed_and_relaxed_again_is_allowed_at_once(three: tuple[AccessPolicy, ...]):
    one, two, last = three
    assert tightens(one, two) == tightens(two, last) == tightens(one, last) == []


@pytest.mark.covers("EVT-017")
@given(policies, policies, policies)
def test_what_follows_step_by_step_follows_at_once(one: AccessPolicy, two: AccessPolicy, last: AccessPolicy):
    for field in EASIER:  # Of whole policies three that follow each other are rare: field by field they are not.
        if field not in tightens(one, two) and field not in tightens(two, last):
            assert field not in tightens(one, last)


@pytest.mark.covers("EVT-017")
@given(policies.flatmap(lambda each: some.tuples(some.just(each), easier(each))))
def test_what_was_made_easier_cannot_be_taken_back(pair: tuple[AccessPolicy, AccessPolicy]):
    one, other = pair
    if without_token_life(one) != without_token_life(other):
        assert tightens(other, one) != []


HARDER = [
    ("mode", AccessMode.PUBLIC, AccessMode.UNLISTED),
    ("mode", AccessMode.UNLISTED, AccessMode.INVITE_ONLY),
    ("guest_checkout_allowed", True, False),
    ("login_required", False, True),
    ("invite_token_allowed", True, False),
    ("invite_identity_match", IdentityMatch.EMAIL, IdentityMatch.USERNAME),
    ("invite_identity_match", IdentityMatch.USERNAME, IdentityMatch.EMAIL),
    ("invite_identity_match", IdentityMatch.BOTH, IdentityMatch.EMAIL),
    ("requires_entitlement", False, True),
    ("scanner_required", False, True),
    ("checkin.methods", (Method.QR_TICKET, Method.MANUAL), (Method.QR_TICKET,)),
    ("checkin.methods", (Method.QR_TICKET,), (Method.MANUAL,)),
    ("checkin.allow_reentry", True, False),
    ("checkin.reentry_minutes", 15, 14),
    ("checkin.max_entries", 2, 1),
    ("checkin.undo_minutes", 10, 9),
]


@pytest.mark.covers("EVT-017")
@pytest.mark.parametrize(("field", "before", "after"), HARDER)
@given(policy=policies)
def test_each_rule_that_is_made_harder_is_named(policy: AccessPolicy, field: str, before: object, after: object):
    block, _, name = field.rpartition(".")

    def with_it(value: object) -> AccessPolicy:
        if block:
            return replace(policy, checkin=replace(policy.checkin, **{name: value}))
        return replace(policy, **{name: value})

    assert tightens(with_it(before), with_it(after)) == [field]
    assert {each for each, *_ in HARDER} == {*EASIER}, "each rule has a case here"


@pytest.mark.covers("EVT-011", "EVT-015")
@given(policies)
def test_rules_that_pass_keep_tokens_to_addresses_and_guests_out_of_what_needs_a_login(policy: AccessPolicy):
    is_fine = why_not_policy(policy) is None
    tokens = not policy.invite_token_allowed or (
        policy.invite_identity_match is not IdentityMatch.USERNAME and policy.invite_token_hours is not None
    )
    login = not policy.login_required or (policy.mode is AccessMode.INVITE_ONLY and not policy.guest_checkout_allowed)
    assert is_fine == (tokens and login)
