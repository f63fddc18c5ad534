"""What is asked of payments, and written, for every sale goes by their keys and compares nothing with everything."""

from uuid import UUID

import pytest

from admitone.finance.payments.store import intents, payments, sweeping
from admitone.kernel.scope import Role
from tests.conftest import Clone
from tests.plans import FIRST, PLANNED, Asked, Ground, array, ids

ORGANIZATION = UUID("00000000-0000-7000-8000-0000000000b0")
FILL = f"""
    INSERT INTO kernel.tenant (id, created_at) VALUES ('{ORGANIZATION}', now()) ON CONFLICT DO NOTHING;
    INSERT INTO payments.payment (organization_id, id, city_code, identity_id, payee_id, source_type, source_id, flow, settlement_model,
                                  scenario, method, provider, livemode, amount_minor, fee_minor, currency, fee_policy_version, snapshot,
                                  snapshot_hash, subjects, idempotency_key, request_hash, correlation_id, status, refund_state, applied,
                                  captured_minor, refunded_minor, failed_attempts, processor_fees_status, version, created_at, changed_at,
                                  expires_at)
    SELECT '{ORGANIZATION}', md5('payment' || n)::uuid, 'LIS', md5('buyer' || n)::uuid, '{ORGANIZATION}', 'TICKET_ORDER', 'order_' || md5(n::text), 'SALE',
           'ORG_MOR', 'PAID', 'CARD', 'sandbox', false, 2500, 0, 'EUR', '1', '{{}}', repeat('0', 64), '{{}}', 'key' || n,
           sha256(n::text::bytea), md5('call' || n)::uuid, 'PENDING', 'NONE', false, 0, 0, 0, 'PENDING', 1, now(), now(),
           now() + interval '1 hour'
      FROM generate_series(1, 6000) AS n;
    INSERT INTO payments.gateway_intent (organization_id, id, payment_id, action, state, amount_minor, currency, description, created_at)
    SELECT organization_id, md5('intent' || id)::uuid, id, 'OPEN', 'OPEN', 2500, 'EUR', '', now() FROM payments.payment;
"""
QUIET = """
    UPDATE payments.payment SET status = 'SUCCEEDED', applied = true, captured_minor = amount_minor;
    UPDATE payments.gateway_intent SET state = 'DONE', settled_at = now();
"""
GROUND = Ground(("payments.payment", "payments.gateway_intent"), FILL, ORGANIZATION, quiet=QUIET)
SAME_KEY = "payment_organization_id_source_type_source_id_idempotency_k_key"
SOME = range(1, 65)
PAYMENTS = ids("payment", *SOME)


def each(kind: str, value: str) -> str:
    return array(kind, *(value for _ in SOME))


STOOD = ", ".join(
    each(kind, value)
    for kind, value in (
        *(("bigint", "1"), ("text", "'SUCCEEDED'"), ("text", "'NONE'"), ("text", "NULL"), ("boolean", "true")),
        *(("bigint", "2500"), ("bigint", "0"), ("integer", "0"), ("text", "'PENDING'"), ("bigint", "NULL")),
        *(("text", "NULL"), ("bigint", "1")),
    )
)
SOURCES = array("text", *(f"'order_' || md5('{n}')" for n in SOME))
KEYS = array("text", *(f"'key{n}'" for n in SOME))
TYPES = each("text", "'TICKET_ORDER'")
ASKED = {
    "what decides whether sources may be paid": Asked(
        payments.FIND_DECISIVE,
        f"{TYPES}, {SOURCES}, {KEYS}",
        {SAME_KEY, "payment_applied", "payment_open", "payment_failed"},
    ),
    "all of sources": Asked(payments.FIND_OF_SOURCES, f"'TICKET_ORDER', {SOURCES}, 10", {SAME_KEY}),
    "what is overdue": Asked(
        sweeping.LIST_OVERDUE, f"'infinity', '-infinity', {FIRST}, 50", {"payment_overdue"}, role=Role.RELAY
    ),
    "payments": Asked(payments.FIND_PAYMENTS, PAYMENTS, {"payment_pkey"}),
    "payments that are held": Asked(payments.LOCK_PAYMENTS.skipping, PAYMENTS, {"payment_pkey"}),
    "where they stand now": Asked(payments.STAND, f"now(), {PAYMENTS}, {STOOD}", {"payment_pkey"}),
    "what was asked for them": Asked(intents.FIND_INTENTS, PAYMENTS, {"gateway_intent_of_payment"}),
}


@pytest.mark.parametrize("planned", PLANNED)
async def test_what_is_asked_for_every_sale_reads_what_it_needs(clone: Clone, planned: str):
    await GROUND.reads_what_it_needs(clone, ASKED, planned)
