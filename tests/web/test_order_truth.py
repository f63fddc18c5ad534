"""What the pages of an order say when it goes otherwise: what is so, and no more than is known."""

import pytest

from admitone.verticals.events.model import OrderId
from tests.verticals.events.office import Office
from tests.verticals.events.test_calling_off import FREE
from tests.verticals.events.test_mixed_orders import tickets_of
from tests.verticals.events.test_returning import give_back
from tests.web.buying import Buyer, befalls, chosen, heading, payment_of, runs_out

# -- The truth


async def test_a_hold_that_ran_out_is_said_and_chosen_again(office: Office):
    event, [kind] = await office.on_sale()
    guest = Buyer(office)
    place = await guest.order(event, (kind, 2))
    await runs_out(office, place)
    page = await guest.page(place)
    assert heading(page) == "The tickets are not kept for you any more"
    assert chosen(event, (kind, 2)).replace("&", "&amp;") in page
    refused = await guest.send(f"{place}/pay", {"method": "CARD", "idempotencyKey": "too late now"})
    assert refused.headers["location"] == place


async def test_money_that_came_late_is_said_to_go_back_and_to_have_gone(office: Office):
    event, [kind] = await office.on_sale()
    guest = Buyer(office)
    place = await guest.order(event, (kind, 1))
    await guest.pay(place)
    payment = await payment_of(office, place)
    await office.stage.superuser.execute(
        "UPDATE payments.payment SET status = 'NEEDS_MANUAL', manual_reason = 'LATE' WHERE id = $1", payment.uuid
    )
    page = await guest.page(place)
    assert heading(page) == "Your money came too late"
    assert "We send it back" in page


async def test_an_event_that_is_cancelled_says_so_on_its_orders(office: Office):
    event, [kind] = await office.on_sale()
    guest, late = Buyer(office), Buyer(office)
    paid, open_ = await guest.order(event, (kind, 1)), await late.order(event, (kind, 1))
    await guest.pay(paid)
    await office.settle(await payment_of(office, paid))
    await office.stage.cancelled(event)
    await office.work()
    assert heading(await guest.page(paid)) == "Your money went back"
    page = await late.page(open_)
    assert (heading(page), "/pay" in page) == ("This event was cancelled", False)
    assert "nothing was charged" in page
    assert "This event is cancelled." in await late.page(chosen(event, (kind, 1)))


async def test_what_is_left_of_an_order_is_said_when_a_part_went_back(office: Office):
    event, [kind, free] = await office.on_sale({}, FREE)
    buyer = Buyer(office)
    place = await buyer.order(event, (kind, 2), (free, 1))
    await buyer.pay(place)
    await office.settle(await payment_of(office, place))
    order = {"orderId": place.rpartition("/")[2]}
    paid = await tickets_of(office, order, kind)
    office.stage.fine(await give_back(office, order, paid[0]))
    await office.work()
    page = await buyer.page(place)
    assert "A part of your money went back" in page
    assert "<li>1 × Standing</li>" in page, "of two"
    office.stage.fine(await give_back(office, order, paid[1]))
    await office.work()
    page = await buyer.page(place)
    assert "All of your money went back" in page
    assert "What cost nothing is still yours." in page
    assert ("<li>1 × Guest list</li>" in page, "× Standing</li>" in page) == (True, False)


# -- Whoever pays, or has paid, is told so everywhere


UNDER_WAY = [("slow", "The bank is working on it"), ("good", "Paid: your tickets are being made")]


@pytest.mark.parametrize("is_over", [False, True], ids=["kept", "its time is over"])
@pytest.mark.parametrize(("card", "said"), UNDER_WAY)
async def test_what_is_being_paid_is_not_called_unpaid_and_not_given_up(
    office: Office, card: str, said: str, is_over: bool
):
    event, [kind] = await office.on_sale()
    buyer = Buyer(office, office.buyer)
    place = await buyer.order(event, (kind, 2))
    await buyer.pay(place)
    await befalls(office, await payment_of(office, place), card=card)
    if is_over:
        await runs_out(office, place)
    own = f"/orders/{place.rpartition('/')[2]}"
    for path in ("/orders", own):
        page = await buyer.page(path)
        assert said in page
        assert not any(word in page for word in ("Not paid yet", "Ran out", "Go on to pay", "Give up this order"))
    refused = await buyer.send(f"{own}/give-up")
    assert (refused.status_code, "it cannot be given up." in refused.text) == (409, True)
    assert said in refused.text
    assert heading(await buyer.page(place)) == said


async def test_what_waits_for_its_buyer_is_called_begun_and_can_be_gone_on_with(office: Office):
    event, [kind] = await office.on_sale()
    buyer = Buyer(office, office.buyer)
    place = await buyer.order(event, (kind, 1))
    own = f"/orders/{place.rpartition('/')[2]}"
    assert "Not paid yet" in await buyer.page(own)
    await buyer.pay(place)
    page = await buyer.page(own)
    assert all(word in page for word in ("Payment begun", "Go on to pay"))
    assert "Give up this order" not in page
    assert "Payment begun" in await buyer.page("/orders")


async def _was_given_up(office: Office, place: str) -> None:
    """In the instant in which somebody began to pay, and neither saw the other."""
    own = OrderId.parse(place.rpartition("/")[2]).uuid
    await office.stage.superuser.execute("UPDATE events.ticket_order SET state = 'CANCELLED' WHERE id = $1", own)


@pytest.mark.parametrize(
    ("card", "title"),
    [(None, "Payment unknown"), ("slow", "The bank is working on it"), ("good", "Your money is on its way back")],
)
async def test_nobody_is_told_that_nothing_was_charged_while_their_bank_may_pay(
    office: Office, card: str | None, title: str
):
    event, [kind] = await office.on_sale()
    guest = Buyer(office)
    place = await guest.order(event, (kind, 2))
    await guest.pay(place)
    if card:
        await befalls(office, await payment_of(office, place), card=card)
    await _was_given_up(office, place)
    page = await guest.page(place)
    assert (heading(page), f'data-watch="{place}/mark"' in page) == (title, True)
    assert not any(word in page for word in ("nothing was charged", "Kept for you", "stay kept"))
    assert ("€50.00" in page.partition("What you ordered")[0]) is (card == "good"), "what came, and only that"


async def test_money_that_the_bank_took_back_is_not_asked_for_again(office: Office):
    event, [kind] = await office.on_sale()
    buyer = Buyer(office, office.buyer)
    place = await buyer.order(event, (kind, 1))
    await buyer.pay(place)
    payment = await payment_of(office, place)
    for deed in ("pay", "dispute", "lose"):
        await befalls(office, payment, deed)
    page = await buyer.page(place)
    assert (heading(page), "/pay" in page) == ("Taken back by the bank", False)
    assert "data-watch" not in page
    own = await buyer.page(f"/orders/{place.rpartition('/')[2]}")
    assert ("Disputed at the bank" in own, "Give up this order" in own) == (True, False)


# -- What came is said, and why it paid for nothing


async def test_who_paid_another_amount_reads_that_and_what_came(office: Office):
    event, [kind] = await office.on_sale({"priceMinor": 10_000})
    buyer = Buyer(office, office.buyer)
    place = await buyer.order(event, (kind, 1))
    await buyer.pay(place)
    payment = await payment_of(office, place)
    await befalls(office, payment, amount=6_000)
    page = await buyer.page(place)
    assert heading(page) == "Your payment did not fit"
    assert "Another amount came than was asked for" in page
    assert "by ourselves: €60.00." in page
    assert "too late" not in page
    own = await buyer.page(f"/orders/{place.rpartition('/')[2]}")
    assert ("€60.00" in own, "€100.00" in own) == (True, False)
    await office.work()
    back = await buyer.page(place)
    assert (heading(back), "All of your money went back: €60.00." in back) == ("Your money went back", True)


async def test_money_of_another_currency_is_not_named_as_if_it_were_of_ours(office: Office):
    event, [kind] = await office.on_sale({"priceMinor": 10_000})
    guest = Buyer(office)
    place = await guest.order(event, (kind, 1))
    await guest.pay(place)
    stand = "UPDATE payments.payment SET status = $2, manual_reason = 'CURRENCY_MISMATCH', captured_minor = 6000,"
    payment = (await payment_of(office, place)).uuid
    await office.stage.superuser.execute(f"{stand} refunded_minor = 0 WHERE id = $1", payment, "NEEDS_MANUAL")
    page = await guest.page(place)
    assert "It came in another currency than was asked for" in page
    assert "by ourselves. When" in page
    assert "60.00" not in page
    await office.stage.superuser.execute(f"{stand} refunded_minor = 6000 WHERE id = $1", payment, "REFUNDED")
    back = await guest.page(place)
    assert ("All of your money went back." in back, "60.00" in back) == (True, False)
