"""What the houses put on: a festival, an exhibition that is on, evenings, one that is over, one that does not take
place, one for whoever has the link, and a draft.

Promise: every event and every type has the same id whenever it is laid out in one installation, and days are counted
from the day on which its house was laid out first. So laying it out again finds it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final
from uuid import uuid5

from admitone.entitlements.api import CheckinPolicy, Method
from admitone.entrypoints.demo.houses import CLUB, HALL, House
from admitone.kernel.clock import utc, zone
from admitone.kernel.db import Tx
from admitone.kernel.ids import OrganizationId
from admitone.verticals.events import api as events

FESTIVAL: Final = "festival"
EXHIBITION: Final = "exhibition"
RECORDS: Final = "records"
SAMBA: Final = "samba"
LONG_NIGHT: Final = "long-night"
JAZZ: Final = "jazz"
REHEARSAL: Final = "rehearsal"
MASKED_BALL: Final = "masked-ball"

EARLY_BIRD: Final = "Early bird"
FESTIVAL_PASS: Final = "Passe geral"  # noqa: S105  For three days.
FRIDAY, SATURDAY, SUNDAY = "Sexta-feira", "Sábado", "Domingo"
CHILDREN: Final = "Crianças até aos 12 anos"
BALCONY: Final = "Passe geral com miradouro, brinde de boas-vindas e lugar reservado junto ao palco principal"
VISIT: Final = "Visita"
YOUNG: Final = "Até aos 18 anos"

BY_CODE: Final = CheckinPolicy()
BY_CODE_OR_NAME: Final = CheckinPolicy((Method.QR_TICKET, Method.MANUAL))

AURORA: Final = events.Venue("Clube Aurora", "Rua das Flores 12", "Porto", "PT")
GARDENS: Final = events.Venue("Jardins do Palácio de Cristal", "Rua de Dom Manuel II", "Porto", "PT")
BRAVO: Final = events.Venue("Sala Bravo", "Rua Augusta 1500", "São Paulo", "BR")

ABOUT_FESTIVAL: Final = """\
Três dias de música nos jardins, com o rio ao fundo: vinte e quatro concertos em dois palcos, conversas à sombra, \
oficinas para os mais novos e uma cozinha que fecha tarde.

Sexta-feira abre com as guitarras do norte e termina com a pista. Sábado é dia de vozes: começa com o coro da cidade e \
acaba com fado ao relento. Domingo é das famílias, com entrada livre para crianças até aos doze anos, e despede-se ao \
pôr do sol.

As portas abrem todos os dias às 16:00 e a música acaba à meia-noite. O passe geral vale para os três dias; os \
bilhetes diários, para o dia que dizem. O recinto é acessível a cadeiras de rodas, tem água gratuita e fica a dez \
minutos a pé da estação. Não é preciso imprimir nada: basta o telemóvel.

Se chover, há dois palcos cobertos. Se o festival não se realizar, o dinheiro volta por inteiro.\
"""
ABOUT_EXHIBITION: Final = """\
Sessenta fotografias da cidade depois da meia-noite: padarias, pontes, o último autocarro.

Aberta de dia e de noite, durante oito semanas. O bilhete vale para uma visita, a qualquer hora de qualquer dia. Quem \
deixou o telemóvel em casa diz o nome à porta.\
"""


@dataclass(frozen=True)
class Kind:
    """A type of tickets."""

    name: str
    price_minor: int
    places: int
    days: tuple[int, ...] = ()
    """Which of the event's sessions it is for; all, unless said."""
    description: str = ""


@dataclass(frozen=True)
class Show:
    """Something that is put on."""

    name: str
    house: str
    about: events.About
    day: int
    """From today."""
    hour: int
    hours: int
    kinds: tuple[Kind, ...]
    sessions: tuple[str, ...] = ()
    """One a day, by these names."""
    weekday: int | None = None
    """On which it begins at the earliest; Monday is 0."""
    mode: events.AccessMode = events.AccessMode.PUBLIC
    checkin: CheckinPolicy = BY_CODE
    published: bool = True


PROGRAMME: Final = (
    Show(
        FESTIVAL,
        CLUB,
        events.About("Festival Aurora", ABOUT_FESTIVAL, GARDENS),
        day=24,
        hour=16,
        hours=8,
        kinds=(
            Kind(EARLY_BIRD, 6500, 40, description="Os três dias, para quem chegou primeiro."),
            Kind(FESTIVAL_PASS, 9500, 400, description="Os três dias."),
            Kind(FRIDAY, 4200, 250, (0,)),
            Kind(SATURDAY, 4600, 250, (1,)),
            Kind(SUNDAY, 3800, 250, (2,)),
            Kind(BALCONY, 18000, 50, description="Os três dias, com vista para o rio."),
            Kind(CHILDREN, 0, 80, (2,), "Com um adulto que tenha bilhete."),
        ),
        sessions=(FRIDAY, SATURDAY, SUNDAY),
        weekday=4,
    ),
    Show(
        EXHIBITION,
        CLUB,
        events.About("Porto Acordado", ABOUT_EXHIBITION, AURORA),
        day=-1,
        hour=10,
        hours=8 * 7 * 24,
        kinds=(Kind(VISIT, 400, 600), Kind(YOUNG, 0, 200, description="Com o cartão de cidadão.")),
        checkin=BY_CODE_OR_NAME,
    ),
    Show(
        RECORDS,
        CLUB,
        events.About("Noite de Discos", "Uma noite de discos e de boa companhia.", AURORA),
        day=-4,
        hour=22,
        hours=5,
        kinds=(Kind("Entrada", 1500, 220), Kind("Mesa para dois", 4000, 40)),
    ),
    Show(
        LONG_NIGHT,
        CLUB,
        events.About("Noite Longa", "Até de manhã. Só para maiores de 18 anos.", AURORA, least_age=18),
        day=33,
        hour=23,
        hours=7,
        kinds=(Kind("Entrada", 1800, 220),),
    ),
    Show(
        JAZZ,
        CLUB,
        events.About("Jazz no Terraço", "Quarteto, ao fim da tarde.", AURORA),
        day=6,
        hour=18,
        hours=3,
        kinds=(Kind("Entrada", 1200, 60),),
    ),
    Show(
        REHEARSAL,
        CLUB,
        events.About("Ensaio aberto", "Para quem tem a ligação.", AURORA),
        day=40,
        hour=15,
        hours=2,
        kinds=(Kind("Lugar", 0, 30),),
        mode=events.AccessMode.UNLISTED,
    ),
    Show(
        SAMBA,
        HALL,
        events.About("Roda de Samba", "Samba de raiz, com a casa cheia e a roda no meio.", BRAVO),
        day=12,
        hour=20,
        hours=5,
        kinds=(Kind("Pista", 6000, 260), Kind("Mesa", 9000, 80), Kind("Lista da casa", 0, 30)),
    ),
    Show(
        MASKED_BALL,
        CLUB,
        events.About("Baile de Máscaras", "Por anunciar.", AURORA),
        day=43,
        hour=21,
        hours=8,
        kinds=(Kind("Entrada", 3500, 200),),
        published=False,
    ),
)
SHOWS: Final = {each.name: each for each in PROGRAMME}


def event_of(house: House, show: str) -> events.EventId:
    return event_at(house.own, show)


def event_at(house: OrganizationId, show: str) -> events.EventId:
    return events.EventId(uuid5(house.uuid, show))


def kind_of(house: House, show: str, kind: str) -> events.TicketTypeId:
    return events.TicketTypeId(uuid5(event_of(house, show).uuid, kind))


def starts_at(house: House, show: Show, days: int = 0) -> datetime:
    """So many days after its first, by the clocks there."""
    there = zone(house.settings.time_zone)
    day = (house.today.astimezone(there) + timedelta(days=show.day)).date()
    later = 0 if show.weekday is None else (show.weekday - day.weekday()) % 7
    return utc(datetime.combine(day + timedelta(days=later + days), time(show.hour), there))


async def put_on(tx: Tx, house: House, shows: Iterable[Show]) -> None:
    """What is not there yet."""
    wanted = {event_of(house, each.name): each for each in shows if each.house == house.name}
    known = await events.find_events(tx, wanted)
    fresh = {own: each for own, each in wanted.items() if own not in known}
    await events.draft(tx, [_draft(house, own, each) for own, each in fresh.items()])
    for show in fresh.values():
        for kind in show.kinds:
            await events.offer(tx, [_offering(house, show, kind)])
    await events.publish(tx, [events.Publishing(house.owner, own) for own, each in fresh.items() if each.published])


def _draft(house: House, own: events.EventId, show: Show) -> events.Draft:
    begins, lasts = starts_at(house, show), timedelta(hours=show.hours)
    sessions = tuple(
        events.Session(_session_of(house, show, place), label, start, start + lasts)
        for place, label in enumerate(show.sessions)
        for start in (starts_at(house, show, place),)
    )
    ends = sessions[-1].ends_at if sessions else begins + lasts
    schedule = events.Schedule(begins, ends, house.settings.time_zone, sessions)
    policy = events.AccessPolicy(1, show.mode, checkin=show.checkin)
    return events.Draft(house.owner, own, show.about, schedule, house.settings.default_currency, policy)


def _offering(house: House, show: Show, kind: Kind) -> events.Offering:
    terms = events.Terms(
        kind.name,
        kind.price_minor,
        kind.description,
        allows_zero=not kind.price_minor,
        free_per_person=2,
        sessions=tuple(_session_of(house, show, day) for day in kind.days),
    )
    own = kind_of(house, show.name, kind.name)
    return events.Offering(house.owner, event_of(house, show.name), own, terms, events.Supply(kind.places))


def _session_of(house: House, show: Show, place: int) -> events.SessionId:
    return events.SessionId(uuid5(event_of(house, show.name).uuid, f"session {place}"))
