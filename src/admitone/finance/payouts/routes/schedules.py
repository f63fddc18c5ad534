"""When owners are paid: to read, and to change with a recent proof (IDN-016, ORG-017)."""

from typing import Any
from uuid import UUID

from admitone.finance.payouts import errors, queries
from admitone.finance.payouts.commands.settings import Setting, set_schedules
from admitone.finance.payouts.model import Frequency, PropertyKey
from admitone.finance.payouts.policy import OWNER_DEFAULT
from admitone.finance.payouts.routes.showing import OwnerRequest
from admitone.finance.payouts.routes.wires import (
    EVERY_MONDAY,
    FINANCE_PAYOUTS_R,
    FINANCE_PAYOUTS_RW,
    ScheduleWire,
    both,
    owner_of,
)
from admitone.foundation.organizations.api import OfficialEmailRequired, OrganizationNotFound
from admitone.kernel.contracts import Audience, Call, Contract, Count, Example, ReasonCode, Wire

MONTHLY = ScheduleWire(frequency=Frequency.MONTHLY, day_of_month=1)


class PropertySchedule(Wire):
    property_key: str
    """Empty: of all that have none of their own."""
    schedule: ScheduleWire
    version: int


class SettingsAnswer(Wire):
    effective: ScheduleWire
    """Of what has no schedule of its own: the owner's, else the system's."""
    said: list[PropertySchedule]


def _settings(own: str, path: str) -> Contract:
    return Contract(
        id=own,
        version="1.0.0",
        owner="payouts",
        consumers=("web",),
        summary="When an owner is paid.",
        get=path,
        takes=OwnerRequest,
        gives=SettingsAnswer,
        audience=Audience.ORGANIZATION,
        permission=FINANCE_PAYOUTS_R,
        order_key="none",
        examples=(
            Example("the system's", takes=OwnerRequest(), gives=SettingsAnswer(effective=EVERY_MONDAY, said=[])),
        ),
    )


async def show_settings(call: Call, request: OwnerRequest) -> SettingsAnswer:
    found = await call.read(queries.find_settings, owner_of(call, request.owner))
    return SettingsAnswer(
        effective=ScheduleWire.of(found.effective),
        said=[
            PropertySchedule(
                property_key=each.property_key, schedule=ScheduleWire.of(each.schedule), version=each.version
            )
            for each in found.said
        ],
    )


class SettingsRequest(Wire):
    reason_code: ReasonCode
    version: Count
    """That is changed; 0 if there is none."""
    owner: UUID | None = None
    property_key: PropertyKey = OWNER_DEFAULT
    schedule: ScheduleWire | None = None
    """Left out: it is forgotten, and whatever comes next counts, the owner's or the system's."""


class SettingAnswer(Wire):
    schedule: ScheduleWire | None
    version: int


def _set(own: str, path: str) -> Contract:
    return Contract(
        id=own,
        version="1.0.0",
        owner="payouts",
        consumers=("web",),
        summary="Say when an owner is paid, for one property or for all that have no schedule of their own.",
        put=path,
        takes=SettingsRequest,
        gives=SettingAnswer,
        refuses=(OrganizationNotFound, OfficialEmailRequired, errors.ScheduleInvalid, errors.ScheduleChanged),
        audience=Audience.ORGANIZATION,
        permission=FINANCE_PAYOUTS_RW,
        verified_only=True,
        step_up=True,
        repeats="a version is changed once",
        order_key="owner, propertyKey",
        examples=(
            Example(
                "on the first of the month",
                takes=SettingsRequest(reason_code="OWNER_ASKED", version=0, schedule=MONTHLY),
                gives=SettingAnswer(schedule=MONTHLY, version=1),
            ),
        ),
    )


async def change_settings(call: Call, request: SettingsRequest) -> SettingAnswer:
    setting = Setting(
        call.caller,
        owner_of(call, request.owner),
        request.property_key,
        request.schedule.schedule() if request.schedule else None,
        request.version,
        request.reason_code,
    )
    done = await call.batch(set_schedules, setting)
    if done.known is None:
        return SettingAnswer(schedule=None, version=0)
    return SettingAnswer(schedule=ScheduleWire.of(done.known.schedule), version=done.known.version)


CONTRACTS: tuple[Any, ...] = (
    *both(_settings, show_settings, "C14.SETTINGS", "/settings"),
    *both(_set, change_settings, "C14.SET", "/settings"),
)
