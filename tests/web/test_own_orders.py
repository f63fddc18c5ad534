"""Somebody's own orders, and what they may do with them."""

from tests.people import a_person
from tests.verticals.events.office import Office
from tests.web.buying import Buyer, heading, payment_of


async def test_people_find_their_orders_and_give_up_what_is_open(office: Office):
    event, [kind] = await office.on_sale()
    buyer, stranger = Buyer(office, office.buyer), Buyer(office, await a_person(office.stage.database))
    paid, open_ = await buyer.order(event, (kind, 1), billingName="Ana"), await buyer.order(event, (kind, 2))
    await buyer.pay(paid)
    await office.settle(await payment_of(office, paid))
    first, second = paid.rpartition("/")[2], open_.rpartition("/")[2]
    listed = await buyer.page("/orders")
    assert all(f"/orders/{own}" in listed for own in (first, second))
    assert "You have not ordered anything yet." in await stranger.page("/orders")
    assert "Give up this order" in await buyer.page(f"/orders/{second}")
    assert (await buyer.send(f"/orders/{second}/give-up")).headers["location"] == f"/orders/{second}"
    assert "Given up" in await buyer.page(f"/orders/{second}")
    assert heading(await buyer.page(open_)) == "This order was given up"
    again = await buyer.send(f"/orders/{first}/give-up")
    assert (again.status_code, "This order cannot be changed any more." in again.text) == (409, True)
    invoice = await buyer.page(f"/orders/{first}/invoice")
    assert all(part in invoice for part in ("Ana", "€25.00", "Seller"))
    assert (await buyer.look(f"/orders/{second}/invoice")).headers["location"] == f"/orders/{second}"
    for path in (f"/orders/{first}", f"/orders/{first}/invoice"):
        assert (await stranger.look(path)).status_code == 404
        assert (await Buyer(office).look(path)).headers["location"].startswith("/sign-in?next=")
    assert (await stranger.send(f"/orders/{second}/give-up")).status_code == 404
