"""What a guest bought: behind a link, until the doors close, for whoever has it and nobody else (EVT-025)."""

import re
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from admitone.entitlements import errands
from admitone.entitlements.api import Transfer, doors_of, transfer
from admitone.finance.refunds.api import Piece, Reason, RefundId, Request, request_refunds
from admitone.finance.sources.api import PaymentId
from admitone.foundation.identity.commands.claiming import claim as claim_guest
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId, uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.scope import Caller, PeopleScope
from admitone.verticals.events.model import OrderState, TicketStatus
from admitone.verticals.events.routes import guests as routes
from admitone.verticals.events.store import guest_links
from tests.foundation.organizations.clubs import facts_of, mailed, trail_of
from tests.mails import an_address
from tests.people import Person, a_person
from tests.verticals.events.office import Office
from tests.verticals.events.stage import a_stage, soon

PEOPLE = PeopleScope("test")
TOKEN = re.compile(r"/guest/tickets/(gst_[0-9a-f]{32}_[0-9a-f]{40})")
Bought = tuple[dict[str, Any], PaymentId, str]


async def bought(office: Office, quantity: int = 1, email: str | None = None, **more: Any) -> Bought:
    """As a guest: the order, its payment and the link that came by mail."""
    event, [kind] = await office.on_sale(**more)
    order = await office.order(event, (kind, quantity), guest=email or an_address())
    payment = await office.pay(order, guest=True)
    return order | {"event": event, "kind": kind}, payment, await link_of(office, order)


async def link_of(office: Office, order: dict[str, Any]) -> str:
    [letter] = [
        each
        for each in await mailed(office.stage.superuser, office.stage.organization)
        if each.values.get("order") == order["orderId"]
    ]
    found = TOKEN.search(str(letter.values["link"]))
    assert found, letter.values
    return found[1]


async def shown(office: Office, token: str, path: str = "") -> Any:
    return await office.stage.site.get(f"/api/guest/tickets/{token}{path}")


async def tickets_behind(office: Office, token: str) -> list[str]:
    return [each["entitlementId"] for each in office.stage.fine(await shown(office, token))["tickets"]]


async def proves(office: Office, user: Person) -> None:
    """Whoever has the address says that its guest was them, and everybody hears of it."""
    database = office.stage.database
    merges = await database.run(
        PEOPLE, lambda tx: claim_guest(tx, {user.email: (user.identity, user.caller)}), patient=True
    )
    for each in merges:
        fact = errands.GuestClaimed(user_id=user.identity, guest_id=each.guest_id, batch_version=each.batch_version)
        told = Delivered(
            uuid7(), PLATFORM_ORGANIZATION, fact, Caller(), str(uuid7()), None, 1, datetime.now().astimezone()
        )
        await errands.claim_rights.work(Desk(database, office.world.batcher), told)
    await office.work()


async def passes_on(office: Office, order: dict[str, Any], to: IdentityId, which: int | None = None) -> None:
    rights = await office.rights(order)
    chosen = rights if which is None else [rights[which]]
    moves = [Transfer(Caller(), each.id, to) for each in chosen]
    await office.stage.database.run(office.stage.scope, lambda tx: transfer(tx, moves))
    await office.work()


async def gives_back(office: Office, order: dict[str, Any], payment: PaymentId, quantity: int) -> None:
    line = order["lines"][0]["ticketTypeId"]
    wanted = Request(Caller(), payment, RefundId.new(), Reason.TECHNICAL_PROBLEM, (Piece(line, quantity),))
    await office.stage.database.run(office.stage.scope, lambda tx: request_refunds(tx, [wanted]))
    await office.work()


@pytest.mark.covers("EVT-025")
async def test_a_queue_behind_one_address_is_shown_its_tickets_and_one_link_is_looked_at_so_often_only(office: Office):
    tokens = [(await bought(office, 1))[2] for _ in range(2)]
    looks = [(await shown(office, tokens[0])).status_code for _ in range(routes.GUEST_LOOKS.count + 1)]
    assert looks == [200] * routes.GUEST_LOOKS.count + [429]
    assert (await shown(office, tokens[1])).status_code == 200


@pytest.mark.covers("EVT-025", "ENT-009")
async def test_a_guest_is_sent_a_link_and_never_a_code(office: Office):
    order, _, token = await bought(office, 2)
    page = office.stage.fine(await shown(office, token))
    assert (page["orderId"], len(page["tickets"])) == (order["orderId"], 2)
    [letter] = await mailed(office.stage.superuser, office.stage.organization)
    code = office.stage.fine(await shown(office, token, f"/{page['tickets'][0]['entitlementId']}/code"))["payload"]
    assert not any(code in str(value) for value in letter.values.values())
    row = await office.stage.superuser.fetchrow(
        "SELECT * FROM events.guest_link WHERE organization_id = $1", office.stage.organization.uuid
    )
    assert token not in str(dict(row)), "its digest alone is kept"


@pytest.mark.covers("EVT-025")
async def test_pictures_of_codes_are_kept_by_nobody_on_the_way(office: Office):
    _, _, token = await bought(office)
    [right] = await tickets_behind(office, token)
    for path in ("", f"/{right}/code", f"/{right}/code.svg", f"/{right}/code.png"):
        answer = await shown(office, token, path)
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store"), path


@pytest.mark.covers("EVT-025")
async def test_a_link_that_is_not_one_is_not_found_whatever_is_wrong_with_it(office: Office):
    _, _, token = await bought(office)
    [right] = await tickets_behind(office, token)
    other = await a_stage(office.stage.site, office.stage.database, office.stage.superuser)
    kind, own, secret = token.split("_")
    wrong = (
        f"{kind}_{other.organization.uuid.hex}_{secret}",
        f"{kind}_{OrganizationId.new().uuid.hex}_{secret}",
        f"{kind}_0_{secret}",
        f"ses_{own}_{secret}",
        f"{kind}_{own}_{'0' * 40}",
        token.upper(),
        token[:-1],
        "x",
    )
    bodies = set()
    for each in wrong:
        for path in ("", f"/{right}/code", f"/{right}/code.svg"):
            answer = await shown(office, each, path)
            body = answer.json()
            bodies.add((answer.status_code, body["errorCode"], body["message"]))
    assert len(bodies) == 1, bodies
    assert next(iter(bodies))[0] == 404
    others, _, link = await bought(office)
    assert (await shown(office, link, f"/{right}/code")).status_code == 404, "of another order"
    assert others["orderId"]


@pytest.mark.covers("EVT-025")
async def test_a_link_ends_when_the_doors_close(office: Office):
    order, _, token = await bought(office)
    event = order["event"]
    _, closes = doors_of(datetime.fromisoformat(event["startsAt"]), datetime.fromisoformat(event["endsAt"]))
    digest = routes.digest_of(token)
    assert await office.at(closes - timedelta(microseconds=1), guest_links.find_link, digest)
    assert await office.at(closes, guest_links.find_link, digest) is None
    await office.stage.superuser.execute(
        "UPDATE events.guest_link SET revoked_at = now() WHERE organization_id = $1", office.stage.organization.uuid
    )
    assert (await shown(office, token)).status_code == 404


@pytest.mark.covers("EVT-025")
async def test_a_link_goes_with_its_event_to_another_day(office: Office):
    order, _, token = await bought(office)
    event = order["event"]
    office.stage.fine(await office.stage.put_off(event, startsAt=soon(days=90), endsAt=soon(days=90, hours=5)))
    await office.work()
    [right] = await office.rights(order)
    page = office.stage.fine(await shown(office, token))
    assert datetime.fromisoformat(page["linkEndsAt"]) == right.valid_until


@pytest.mark.covers("EVT-025")
async def test_if_no_link_can_be_made_the_letter_goes_all_the_same(office: Office, monkeypatch: pytest.MonkeyPatch):
    async def broken(*_: Any) -> None:
        raise ConnectionResetError

    monkeypatch.setattr(guest_links, "insert_links", broken)
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 1), guest=an_address())
    await office.pay(order, guest=True)
    [letter] = await mailed(office.stage.superuser, office.stage.organization)
    assert letter.values["link"] == "/"


# -- Guests who are somebody


@pytest.mark.covers("IDN-004", "EVT-024")
async def test_whoever_turns_out_to_be_the_guest_has_order_and_tickets_and_the_link_still_shows_them(office: Office):
    user = await a_person(office.stage.database, email=an_address())
    order, payment, token = await bought(office, 2, user.email)
    before = await tickets_behind(office, token)
    await proves(office, user)
    assert {each.owner for each in await office.rights(order)} == {user.identity}
    assert {each.owner for each in await office.tickets(order)} == {user.identity}
    assert (await office.find(order)).buyer == user.identity
    assert await tickets_behind(office, token) == before
    own = office.stage.fine(await office.stage.site.get("/api/me/orders", headers=user.headers))
    assert [each["orderId"] for each in own["items"]] == [order["orderId"]]
    assert (await office.world.payment(payment)).identity != user.identity, "money is never touched"


async def test_what_was_given_back_before_does_not_keep_an_order_from_its_user(office: Office):
    user = await a_person(office.stage.database, email=an_address())
    order, payment, token = await bought(office, 2, user.email)
    await gives_back(office, order, payment, 1)
    await proves(office, user)
    assert (await office.find(order)).buyer == user.identity
    assert {each.owner for each in await office.tickets(order)} == {user.identity}
    assert len(await tickets_behind(office, token)) == 2, "what is gone is shown as such"
    assert (await office.pool(order["kind"])).sold == 1


async def test_whoever_signs_up_before_they_pay_has_their_order_and_their_tickets(office: Office):
    user = await a_person(office.stage.database, email=an_address())
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2), guest=user.email)
    payment = await office.begin(order, guest=True)
    await proves(office, user)
    await office.settle(payment)
    assert {each.owner for each in await office.rights(order)} == {user.identity}
    assert {each.owner for each in await office.tickets(order)} == {user.identity}
    found = await office.find(order)
    assert (found.buyer, found.state) == (user.identity, OrderState.FULFILLED)
    assert len(await tickets_behind(office, await link_of(office, order))) == 2


async def test_what_a_user_passed_on_is_not_behind_the_link_any_more(office: Office):
    user, friend = await a_person(office.stage.database, email=an_address()), await a_person(office.stage.database)
    order, _, token = await bought(office, 2, user.email)
    await proves(office, user)
    first, second = await tickets_behind(office, token)
    await passes_on(office, order, friend.identity, 0)
    left = await tickets_behind(office, token)
    assert len(left) == 1
    await passes_on(office, order, friend.identity)
    assert await tickets_behind(office, token) == [], "the code would be the friend's"
    for right in (first, second):
        assert (await shown(office, token, f"/{right}/code")).status_code == 404
    assert (await office.find(order)).buyer == user.identity, "who ordered is who ordered"
    assert {each.owner for each in await office.tickets(order)} == {friend.identity}


async def test_a_guest_who_passes_on_everything_is_not_whoever_has_it_then(office: Office):
    friend = await a_person(office.stage.database)
    order, _, token = await bought(office, 1)
    before = (await office.find(order)).buyer
    await passes_on(office, order, friend.identity)
    assert (await office.find(order)).buyer == before
    assert await tickets_behind(office, token) == []


async def test_a_key_that_guest_and_user_both_took_keeps_no_ticket_from_following(office: Office):
    user, same = await a_person(office.stage.database, email=an_address()), str(uuid4())
    event, [kind] = await office.on_sale()
    mine = await office.order(event, (kind, 1), buyer=user, idempotencyKey=same)
    guests = await office.order(event, (kind, 1), guest=user.email, idempotencyKey=same)
    payment = await office.pay(guests, guest=True)
    await proves(office, user)
    assert (await office.find(guests)).buyer == user.identity
    await gives_back(office, guests, payment, 1)
    assert [each.status for each in await office.tickets(guests)] == [TicketStatus.REFUNDED]
    again = await office.order(event, (kind, 1), buyer=user, idempotencyKey=same)
    assert again["orderId"] == mine["orderId"], "the user's key is the user's order"


async def test_no_key_that_somebody_chooses_keeps_a_ticket_from_following(office: Office):
    user = await a_person(office.stage.database, email=an_address())
    event, [kind] = await office.on_sale()
    guests = await office.order(event, (kind, 1), guest=user.email)
    payment = await office.pay(guests, guest=True)
    own = (await office.find(guests)).id
    for key in (f"claimed:{own.uuid}", f"claimed:{own}"):
        await office.order(event, (kind, 1), buyer=user, idempotencyKey=key)
    await proves(office, user)
    await gives_back(office, guests, payment, 1)
    assert (await office.find(guests)).buyer == user.identity
    assert [each.status for each in await office.tickets(guests)] == [TicketStatus.REFUNDED]
    assert (await office.pool(kind)).sold == 0, "a place is not lost by it"


@pytest.mark.covers("EVT-025")
async def test_neither_link_nor_code_nor_address_stands_in_logs_facts_or_trails(
    office: Office, capsys: pytest.CaptureFixture[str]
):
    email = an_address()
    order, _, token = await bought(office, 1, email)
    [right] = await tickets_behind(office, token)
    code = office.stage.fine(await shown(office, token, f"/{right}/code"))["payload"]
    await shown(office, token, f"/{right}/code.png")
    await shown(office, f"{token[:-4]}beef")
    own, superuser = office.stage.organization, office.stage.superuser
    facts = await superuser.fetch("SELECT payload::text FROM kernel.event_log WHERE organization_id = $1", own.uuid)
    jobs = await superuser.fetch("SELECT payload::text FROM kernel.job WHERE organization_id = $1", own.uuid)
    trail = await trail_of(superuser, own)
    out = capsys.readouterr()
    said = "\n".join(
        [out.out, out.err, *map(str, map(dict, facts)), *map(str, map(dict, jobs)), *map(str, map(dict, trail))]
    )
    assert order["orderId"] in said, "something was said"
    for secret in (token, token[-40:], code, email):
        assert secret not in said
    assert await facts_of(superuser, own, "order.fulfilled")
