"""What an event took in a period: tickets, gross and net.

Promise: the days are those that the contracts tell, and they are added up here and nowhere else, so that a figure and
the page to which it leads say the same. What somebody may not see is not asked for.
"""

from dataclasses import dataclass
from datetime import date

from admitone.kernel.contracts import Call
from admitone.verticals.events.api import EventId
from admitone.verticals.events.routes import sales
from admitone.verticals.events.routes.sales import NetsAnswer, SalesAnswer, SalesRequest
from admitone.verticals.events.routes.wires import FINANCE_SALES_R
from admitone.web.console.place import Place


@dataclass(frozen=True)
class Takings:
    sales: SalesAnswer
    nets: NetsAnswer | None
    """Not there for whoever may not see money."""

    @property
    def since(self) -> date:
        return self.sales.since

    @property
    def until(self) -> date:
        return self.sales.until

    @property
    def tickets(self) -> int:
        return sum(each.tickets for each in self.sales.days)

    @property
    def gross_minor(self) -> int:
        return sum(each.gross_minor for each in self.sales.days)

    @property
    def net_minor(self) -> int:
        return sum(each.net_minor for each in self.nets.days) if self.nets else 0


async def takings_of(call: Call, place: Place, event: EventId, first: date, last: date) -> Takings:
    """From the first day to the last, as the clocks at the event count days."""
    asked = SalesRequest(event_id=event, since=first, until=last)
    sold = await call.ask(sales.sales, asked, organization=place.id)
    nets = await call.ask(sales.nets, asked, organization=place.id) if place.may(FINANCE_SALES_R) else None
    return Takings(sold, nets)
