"""The month before today: what was sold on each day, what went back, who came to the evening that is over and to the
exhibition that is on, and what the demonstration's own buyer has.

Promise: day after day, so that what came later is later in every list. Which day sold how much is drawn from one seed.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from admitone.entrypoints.demo import door
from admitone.entrypoints.demo.box_office import BoxOffice, Sale
from admitone.entrypoints.demo.ground import Ground
from admitone.entrypoints.demo.houses import CLUB, HALL, House, done
from admitone.entrypoints.demo.people import BUYER
from admitone.entrypoints.demo.programme import (
    BALCONY,
    CHILDREN,
    EARLY_BIRD,
    EXHIBITION,
    FESTIVAL,
    FESTIVAL_PASS,
    FRIDAY,
    JAZZ,
    RECORDS,
    SAMBA,
    SATURDAY,
    SHOWS,
    SUNDAY,
    VISIT,
    YOUNG,
    event_of,
    starts_at,
)
from admitone.entrypoints.demo.telling import tell
from admitone.finance.gateways.api import Method
from admitone.finance.refunds.api import Reason
from admitone.foundation.identity.api import Guest, make_guests
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller, PeopleScope
from admitone.verticals.coupons import api as coupons
from admitone.verticals.events import api as events

DAYS: Final = 30
SEED: Final = 2026
GUEST: Final = "guest@people.example"
STEWARD: Final = "frontdesk@aurora.example"
EARLY_DAYS: Final = 5
"""So long the early birds lasted."""
REFUNDED_ON: Final = (9, 16, 23)
REFUNDABLE: Final = (f"demo:{FESTIVAL}:", f"demo:{SAMBA}:", "demo:buyer:refunded")
"""Not the early birds: they are to be sold out."""
CALLED_OFF_ON: Final = 27
CAMPAIGN_ON: Final = 26
VISITS_FROM: Final = 20
"""On which day somebody first bought for the exhibition."""

WEIGHTS: Final = {
    FESTIVAL: {FESTIVAL_PASS: 6, FRIDAY: 3, SATURDAY: 5, SUNDAY: 3, BALCONY: 1},
    RECORDS: {"Entrada": 6, "Mesa para dois": 1},
    SAMBA: {"Pista": 5, "Mesa": 2},
}
"""What is bought of each, how often."""


@dataclass(frozen=True)
class Month:
    ground: Ground
    houses: dict[str, House]
    people: dict[str, IdentityId]
    crowd: tuple[IdentityId, ...]

    async def live(self) -> None:
        """All of it, in the order of its days."""
        chance = random.Random(SEED)  # noqa: S311  Not a secret.
        offices = {name: BoxOffice(self.ground, house) for name, house in self.houses.items()}
        sold: dict[str, list[events.Order]] = {name: [] for name in (CLUB, HALL)}
        for day in range(1, DAYS):
            for name, office in offices.items():
                self.ground.calendar.turn_to(self.houses[name].today - timedelta(days=DAYS - day))
                sold[name] += await self._sell(office, name, day, chance)
            await self._besides(offices, sold, day)
        await self._let_visitors_in(sold[CLUB])
        await tell(self.ground)
        for name, office in offices.items():
            await self._sell(office, name, DAYS, chance)

    async def _sell(self, office: BoxOffice, name: str, day: int, chance: random.Random) -> list[events.Order]:
        sales = [*self._sales(name, day, chance)]
        return await office.sell(sales) if sales else []

    async def _besides(self, offices: dict[str, BoxOffice], sold: dict[str, list[events.Order]], day: int) -> None:
        """What else there was on that day."""
        if day in REFUNDED_ON:
            await self._give_back(offices, sold, day)
        if day == CAMPAIGN_ON:
            await self._campaign(offices[CLUB])
        if day == CALLED_OFF_ON:
            await self._call_off(self.houses[CLUB])
        if day == DAYS + SHOWS[RECORDS].day:
            await self._open_door(sold[CLUB])

    def _sales(self, name: str, day: int, chance: random.Random) -> Iterator[Sale]:
        if name == HALL:
            yield from self._some(SAMBA, day, chance.randint(5, 9) if day % 3 == 0 else 0, chance)
            return
        if day <= EARLY_DAYS:
            for number in range(4):
                yield Sale(f"early:{day}:{number}", FESTIVAL, ((EARLY_BIRD, 2),), self._somebody(chance))
        weekend = day % 7 in (5, 6)
        yield from self._some(FESTIVAL, day, chance.randint(3, 5) + 3 * weekend, chance)
        if day < DAYS + SHOWS[RECORDS].day:
            yield from self._some(RECORDS, day, chance.randint(2, 3), chance)
        if day % 3 == 0:
            yield Sale(f"children:{day}", FESTIVAL, ((CHILDREN, 2),), self.crowd[day])
        if day >= VISITS_FROM:
            yield from self._visitors(day)
        yield from self._own(day)

    def _visitors(self, day: int) -> Iterator[Sale]:
        """Of the exhibition: a few each day, all with somebody, and one who is young."""
        for number in range(2 + day % 3):
            visitor = self.crowd[(3 * day + number) % len(self.crowd)]
            yield Sale(f"{EXHIBITION}:{day}:{number}", EXHIBITION, ((VISIT, 2),), visitor)
        yield Sale(f"{EXHIBITION}:{day}:young", EXHIBITION, ((YOUNG, 1),), self.crowd[day])

    def _own(self, day: int) -> Iterator[Sale]:
        """What the demonstration's own buyer has: some for now, some to come, one that was used, one that went back;
        and a guest."""
        buyer = self.people[BUYER]
        if day == REFUNDED_ON[0]:
            yield Sale("buyer:refunded", FESTIVAL, ((FRIDAY, 1),), buyer)
        if day == DAYS + SHOWS[RECORDS].day - 2:
            yield Sale("buyer:used", RECORDS, (("Entrada", 2),), buyer)
        if day == DAYS:
            yield Sale("buyer:coming", FESTIVAL, ((FESTIVAL_PASS, 1), (SUNDAY, 1)), buyer)
            yield Sale("buyer:now", EXHIBITION, ((VISIT, 2), (YOUNG, 1)), buyer)
            yield Sale("guest", FESTIVAL, ((SATURDAY, 2),), self.people[GUEST], is_guest=True)
            yield Sale("guest:now", EXHIBITION, ((VISIT, 1),), self.people[GUEST], is_guest=True)

    def _some(self, show: str, day: int, orders: int, chance: random.Random) -> Iterator[Sale]:
        kinds, weights = [*WEIGHTS[show]], [*WEIGHTS[show].values()]
        for number in range(orders):
            [kind] = chance.choices(kinds, weights)
            wants = ((kind, chance.choice((1, 1, 2, 2, 3))),)
            yield Sale(f"{show}:{day}:{number}", show, wants, self._somebody(chance))

    def _somebody(self, chance: random.Random) -> IdentityId:
        return chance.choice(self.crowd)

    async def _give_back(self, offices: dict[str, BoxOffice], sold: dict[str, list[events.Order]], day: int) -> None:
        for name, office in offices.items():
            for_money = [each for each in sold[name] if each.amount_minor and each.key.startswith(REFUNDABLE)]
            own = [each for each in for_money if each.key == "demo:buyer:refunded" and day == REFUNDED_ON[0]]
            await office.give_back([for_money[day], *own], Reason.TECHNICAL_PROBLEM)

    async def _call_off(self, house: House) -> None:
        cancelling = events.Cancelling(house.owner, event_of(house, JAZZ), "ARTIST_UNAVAILABLE")
        await self.ground.database.run(house.scope, lambda tx: events.cancel(tx, [cancelling]))

    async def _campaign(self, office: BoxOffice) -> None:
        """Coupons for half a month, paid for like everything else."""
        house = self.houses[CLUB]
        assert house.owner.actor is not None
        asked = coupons.Creating(
            caller=house.owner,
            created_by=house.owner.actor,
            name="Aurora no bairro",
            days=15,
            redemption_limit=200,
            currency="EUR",
            key="demo:campaign",
            method=Method.CARD,
        )
        [created] = await self.ground.database.run(house.scope, lambda tx: coupons.create(tx, [asked]))
        await office.pay(done(created).checkout)

    async def _open_door(self, sold: list[events.Order]) -> None:
        """Of the evening that is over."""
        begins = starts_at(self.houses[CLUB], SHOWS[RECORDS])
        await self._let_in(RECORDS, sold, door.EVENING, begins - 2 * door.QUARTER)

    async def _let_visitors_in(self, sold: list[events.Order]) -> None:
        """Until a few minutes ago."""
        lasted = len(door.ALL_DAY.counts) * door.QUARTER
        await self._let_in(EXHIBITION, sold, door.ALL_DAY, self.houses[CLUB].today - lasted)

    async def _let_in(self, show: str, sold: list[events.Order], stream: door.Stream, quarter: datetime) -> None:
        own = self._event(show)
        orders = [str(each.id) for each in sold if each.event_id == own]
        await door.let_in(self.ground, self.houses[CLUB], orders, stream, quarter, self.people[STEWARD])

    def _event(self, show: str) -> events.EventId:
        return event_of(self.houses[SHOWS[show].house], show)


async def welcome_guest(ground: Ground) -> IdentityId:
    """Who buys without an account."""
    [guest] = await ground.database.run(PeopleScope("demo"), lambda tx: make_guests(tx, [Guest(Caller(), GUEST)]))
    return done(guest)
