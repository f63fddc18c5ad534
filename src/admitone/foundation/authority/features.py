"""The cut-line: what the requirements put off until later, as data.

Promise: what stands here is off, for everybody, until somebody switches it on and says why (SAF-025, OPS-031); a
contract that belongs to it says so by its `gate`, and a gate that does not stand here stops the start.
"""

from typing import Final

import msgspec


class Feature(msgspec.Struct, frozen=True):
    """Something that was put off."""

    name: str
    requirement: str
    summary: str


FEATURES: Final = (
    Feature("usernames.confusables", "IDN-031", "Usernames that look alike in other scripts are told apart."),
    Feature("checkin.devices", "ORG-030", "A tab for the devices of check-in."),
    Feature("finance.subscriptions", "ORG-030", "A tab for subscriptions beside the ledger."),
    Feature("analytics.cohorts", "ORG-030", "A tab for cohorts in analytics."),
    Feature("finance.other_accounts", "FIN-004", "Express and Custom accounts beside Standard ones."),
    Feature("finance.held_funds", "FIN-006", "Funds themselves are held back for risk."),
    Feature("finance.platform_mor", "FIN-007", "The platform is merchant of record beyond stays and coupons."),
    Feature("subscriptions", "FUL-016", "Subscriptions are sold and renewed."),
    Feature("memberships", "ENT-006", "Memberships are sold."),
    Feature("checkin.nfc", "ENT-003", "Entry by NFC."),
    Feature("store.pickup", "STO-007", "Goods are picked up and fulfilled."),
    Feature("wallet.passes", "ENT-011", "Passes for the wallets of phones."),
    Feature("checkin.offline_codes", "ENT-011", "Signed codes that are checked without a connection."),
    Feature("checkin.session_overrides", "ENT-012", "A session of an event has an access policy of its own."),
    Feature("checkin.booking_codes", "ENT-013", "Bookings are checked in by a code."),
    Feature("reservations.optimisation", "RSV-005", "Times are suggested for their yield."),
    Feature("reservations.waitlist", "RSV-019", "A waiting list for what is fully booked."),
    Feature("reservations.recurring", "RSV-019", "Bookings that recur."),
    Feature("reservations.open_match", "RSV-019", "Matches that strangers may join."),
    Feature("store.marketplace", "STO-010", "A marketplace of many sellers."),
    Feature("integrations.enterprise", "STO-010", "Integrations with the systems of enterprises."),
    Feature("messages.attachments", "MSG-027", "Messages with attachments."),
    Feature("crm.campaigns", "CRM-006", "Leads and campaigns."),
    Feature("crm.automations", "CRM-006", "Automations with many steps."),
    Feature("search.ranking_v2", "SRC-008", "Results are ranked for the person who asks."),
    Feature("integrations.point_links", "SRC-010", "Links to single systems of third parties."),
    Feature("social.community", "SRC-026", "Community beyond what selling needs."),
    Feature("privacy.dsar_automation", "PRV-024", "Requests of data subjects are answered without an operator."),
    Feature("risk.dynamic_engine", "OPS-055", "Risk is weighed by an engine that learns."),
)

NO_FEATURE: Final = {
    "ENT-004": "pickup is store.pickup, of STO-007",
    "PLT-009": "how facts travel is the installation's business, and no caller sees it",
    "PLT-044": "where it runs is the installation's business, and no caller sees it",
}
"""What the requirements put off too, and why there is nothing to switch."""

KNOWN: Final = frozenset(feature.name for feature in FEATURES)
