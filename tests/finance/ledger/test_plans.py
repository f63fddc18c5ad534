"""What is asked of the books for every payment goes by that payment, whatever the planner believed when it made the plan."""

from uuid import UUID

import pytest

from admitone.finance.ledger.store import seals, transfers
from tests.conftest import Clone
from tests.plans import FIRST, LAST, PLANNED, Asked, Ground, ids

ORGANIZATION = UUID("00000000-0000-7000-8000-0000000000af")
FILL = f"""
    INSERT INTO kernel.tenant (id, created_at) VALUES ('{ORGANIZATION}', now()) ON CONFLICT DO NOTHING;
    INSERT INTO ledger.transfer (organization_id, id, transaction_id, city_code, payee_id, entry_type, event, flow, line, debit_account,
                                 credit_account, amount_minor, currency, payment_id, causation_id, correlation_id, posted_at)
    SELECT '{ORGANIZATION}', md5('transfer' || n)::uuid, md5('transaction' || n)::uuid, 'LIS', '{ORGANIZATION}', 'GROSS', 'CAPTURED', 'SALE', 0,
           'merchant_account', 'org_payable', 2500, 'EUR', md5('payment' || n)::uuid, 'capture', md5('call' || n)::uuid, now()
      FROM generate_series(1, 6000) AS n;
"""
GROUND = Ground(("ledger.transfer",), FILL, ORGANIZATION)
SOME = range(1, 41)
PAYMENTS, ACCOUNTS = ids("payment", *SOME), "ARRAY['org_payable']"
ACCOUNT = f"'org_payable', '{ORGANIZATION}', 'EUR', '-infinity', {FIRST}, 'infinity', {LAST}, 50"
SIDES = {"transfer_debits", "transfer_credits"}
ASKED = {
    "the newest of an account": Asked(transfers.LIST_STATEMENT.newest, ACCOUNT, SIDES),
    "the oldest of an account": Asked(transfers.LIST_STATEMENT.oldest, ACCOUNT, SIDES),
    "what payments left": Asked(transfers.SUM_POSITIONS, f"{PAYMENTS}, {ACCOUNTS}", {"transfer_once"}),
    "what they left of each kind": Asked(transfers.SUM_POSITIONS_BY_TYPE, f"{PAYMENTS}, {ACCOUNTS}", {"transfer_once"}),
    "what they left on each account": Asked(transfers.SUM_ACCOUNTS_OF_PAYMENTS, PAYMENTS, {"transfer_once"}),
    "what is sealed": Asked(seals.FIND_TRANSFERS, ids("transfer", *SOME), {"transfer_pkey"}),
}


@pytest.mark.parametrize("planned", PLANNED)
async def test_what_is_asked_of_the_books_reads_what_it_needs(clone: Clone, planned: str):
    await GROUND.reads_what_it_needs(clone, ASKED, planned)
