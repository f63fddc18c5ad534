"""The scenarios of the unification's table (b): what happens, what of it is the payee's, and what stands in the end.

A step is an event, its flow, and its amounts. The trial balance is written as there: debits positive, credits negative.
"""

from dataclasses import dataclass

from admitone.finance.ledger.api import Account, Event
from admitone.finance.sources.api import Flow

A, E, F = Account, Event, Flow
Step = tuple[Event, Flow, dict[str, int]]


@dataclass(frozen=True)
class Scenario:
    steps: tuple[Step, ...]
    net: int
    stands: dict[Account, int]


def step(event: Event, flow: Flow, **amounts: int) -> Step:
    return event, flow, amounts


T1 = (
    step(E.CAPTURED, F.SALE, gross=5000, fee=300, transfer=4700),
    step(E.FEES_FINAL, F.SALE, fee=100),
)
T1_STANDS = {A.MA: 200, A.SETL: 4700, A.ORG: -4600, A.FEER: -300}
T5 = (
    *T1,
    step(E.REFUND_ACCRUED, F.SALE, gross=5000, fee=300, transfer=4700),
    step(E.REFUND_SETTLED, F.SALE, gross=5000),
)
DISPUTED = (
    *T1,
    step(E.DISPUTE_OPENED, F.SALE, gross=5000),
    step(E.DISPUTE_FEE_CHARGED, F.SALE, fee=1500),
)
P = (step(E.CAPTURED, F.STAY, gross=100_000), step(E.FEES_FINAL, F.STAY, fee=2930))
C = step(E.COMMISSION_HELD, F.STAY, fee=15_000)
LEFT = step(E.CHECKED_OUT, F.STAY, due=85_000, commission=15_000)
PAID_OUT = (
    step(E.PAYOUT_INITIATED, F.STAY, paid=85_000),
    step(E.PAYOUT_PAID, F.STAY, paid=85_000),
    step(E.COMMISSION_SWEPT, F.STAY, commission=15_000),
)
S1 = (*P, C, LEFT, *PAID_OUT)
S7_STANDS = {A.CASH: 100_000, A.GFE: 2930, A.ORG: -85_000, A.COMR: -15_000, A.MA: -2930}
WEEK = step(E.CAMPAIGN_EARNED, F.CAMPAIGN, earned=4900)

SCENARIOS: dict[str, Scenario] = {
    "T1 fee included": Scenario(T1, 4600, T1_STANDS),
    "T2 fee added": Scenario(
        (step(E.CAPTURED, F.SALE, gross=5300, fee=300, transfer=5000), step(E.FEES_FINAL, F.SALE, fee=105)),
        4895,
        {A.MA: 195, A.SETL: 5000, A.ORG: -4895, A.FEER: -300},
    ),
    "T3 fee absorbed": Scenario(T1, 4600, T1_STANDS),
    "T4 fee rose": Scenario(
        (*T1, step(E.FEES_ROSE, F.SALE, fee=7)), 4593, {A.MA: 193, A.SETL: 4700, A.ORG: -4593, A.FEER: -300}
    ),
    "T4 fee fell": Scenario(
        (*T1, step(E.FEES_FELL, F.SALE, fee=7)), 4607, {A.MA: 207, A.SETL: 4700, A.ORG: -4607, A.FEER: -300}
    ),
    "T5 full refund": Scenario(T5, -100, {A.ORG: 100, A.MA: -100}),
    "T5b full refund, processor's fee returned": Scenario((*T5, step(E.REFUND_FEES_RETURNED, F.SALE, fee=100)), 0, {}),
    "T6 one of two items refunded": Scenario(
        (
            *T1,
            step(E.REFUND_ACCRUED, F.SALE, gross=2500, fee=150, transfer=2350),
            step(E.REFUND_SETTLED, F.SALE, gross=2500),
        ),
        2250,
        {A.MA: 50, A.SETL: 2350, A.ORG: -2250, A.FEER: -150},
    ),
    "T6b refund that failed": Scenario(
        (
            *T1,
            step(E.REFUND_ACCRUED, F.SALE, gross=2500, fee=150, transfer=2350),
            step(E.REFUND_FAILED, F.SALE, gross=2500, fee=150, transfer=2350),
        ),
        4600,
        T1_STANDS,
    ),
    "T6c refund that had arrived and came back": Scenario(
        (
            *T1,
            step(E.REFUND_ACCRUED, F.SALE, gross=2500, fee=150, transfer=2350),
            step(E.REFUND_SETTLED, F.SALE, gross=2500),
            step(E.REFUND_FAILED, F.SALE, gross=2500, fee=150, transfer=2350),
            step(E.REFUND_RETURNED, F.SALE, gross=2500),
        ),
        4600,
        T1_STANDS,
    ),
    "T7 dispute won": Scenario(
        (*DISPUTED, step(E.DISPUTE_WON, F.SALE, gross=5000), step(E.DISPUTE_FEE_RETURNED, F.SALE, fee=1500)),
        4600,
        T1_STANDS,
    ),
    "T8 dispute lost": Scenario(
        (*DISPUTED, step(E.DISPUTE_LOST, F.SALE, gross=5000, fee=300, transfer=4700)),
        -1600,
        {A.ORG: 1600, A.MA: -1600},
    ),
    "T9 resale": Scenario(
        (
            step(E.CAPTURED, F.RESALE, gross=5000, fee=250, share=4750),
            step(E.FEES_FINAL, F.RESALE, fee=100),
            step(E.SELLER_PAID, F.RESALE, share=4750),
        ),
        0,
        {A.MA: 150, A.GFE: 100, A.FEER: -250},
    ),
    "P stay captured": Scenario(P, 100_000, {A.CASH: 100_000, A.GFE: 2930, A.DEP: -100_000, A.MA: -2930}),
    "S1 stay paid out": Scenario(
        S1, 85_000, {A.GFE: 2930, A.MA: 12_070, A.SETL: 85_000, A.ORG: -85_000, A.COMR: -15_000}
    ),
    "S2 tax withheld": Scenario(
        (
            *P,
            C,
            step(E.TAX_WITHHELD, F.STAY, tax=380),
            step(E.CHECKED_OUT, F.STAY, due=84_620, commission=15_000),
            step(E.PAYOUT_INITIATED, F.STAY, paid=84_620),
            step(E.PAYOUT_PAID, F.STAY, paid=84_620),
            step(E.COMMISSION_SWEPT, F.STAY, commission=15_000),
            step(E.TAX_REMITTED, F.STAY, tax=380),
        ),
        84_620,
        {A.GFE: 2930, A.MA: 12_070, A.SETL: 84_620, A.ORG: -84_620, A.COMR: -15_000},
    ),
    "S3 host did not commit": Scenario(
        (
            *P,
            step(E.REFUND_ACCRUED, F.STAY, gross=100_000, fee=0),
            step(E.REFUND_SETTLED, F.STAY, gross=100_000),
        ),
        0,
        {A.GFE: 2930, A.MA: -2930},
    ),
    "S4 full refund": Scenario(
        (
            *P,
            C,
            step(E.REFUND_ACCRUED, F.STAY, gross=100_000, fee=15_000),
            step(E.REFUND_SETTLED, F.STAY, gross=100_000),
        ),
        0,
        {A.GFE: 2930, A.MA: -2930},
    ),
    "S5 half refunded": Scenario(
        (
            *P,
            C,
            step(E.REFUND_ACCRUED, F.STAY, gross=50_000, fee=0),
            step(E.REFUND_SETTLED, F.STAY, gross=50_000),
            step(E.CHECKED_OUT, F.STAY, due=35_000, commission=15_000),
        ),
        35_000,
        {A.CASH: 50_000, A.GFE: 2930, A.ORG: -35_000, A.COMR: -15_000, A.MA: -2930},
    ),
    "S6 70 % of it refunded, commission pro rata": Scenario(
        (
            step(E.CAPTURED, F.STAY, gross=125_000),
            step(E.COMMISSION_HELD, F.STAY, fee=18_750),
            step(E.REFUND_ACCRUED, F.STAY, gross=87_500, fee=13_125),
            step(E.REFUND_SETTLED, F.STAY, gross=87_500),
            step(E.CHECKED_OUT, F.STAY, due=31_875, commission=5625),
        ),
        31_875,
        {A.CASH: 37_500, A.ORG: -31_875, A.COMR: -5625},
    ),
    "S7 no-show": Scenario((*P, C, LEFT), 85_000, S7_STANDS),
    "S8 lost before payout": Scenario(
        (
            *P,
            C,
            step(E.DISPUTE_OPENED, F.STAY, gross=100_000),
            step(E.DISPUTE_FEE_CHARGED, F.STAY, fee=1500),
            step(E.DISPUTE_LOST, F.STAY, gross=100_000, fee=15_000),
        ),
        -1500,
        {A.GFE: 2930, A.ORG: 1500, A.MA: -4430},
    ),
    "S9 lost after payout": Scenario(
        (
            *S1,
            step(E.DISPUTE_OPENED, F.STAY_LEFT, gross=100_000),
            step(E.DISPUTE_FEE_CHARGED, F.STAY_LEFT, fee=1500),
            step(E.DISPUTE_LOST, F.STAY_LEFT, gross=100_000, fee=15_000),
        ),
        -1500,
        {A.GFE: 2930, A.ORG: 1500, A.SETL: 85_000, A.MA: -89_430},
    ),
    "S10 won": Scenario(
        (
            *P,
            C,
            step(E.DISPUTE_OPENED, F.STAY, gross=100_000),
            step(E.DISPUTE_FEE_CHARGED, F.STAY, fee=1500),
            step(E.DISPUTE_WON, F.STAY, gross=100_000),
            step(E.DISPUTE_FEE_RETURNED, F.STAY, fee=1500),
        ),
        85_000,
        {A.CASH: 100_000, A.GFE: 2930, A.DEP: -85_000, A.COMH: -15_000, A.MA: -2930},
    ),
    "S11 payout failed": Scenario(
        (
            *P,
            C,
            LEFT,
            step(E.PAYOUT_INITIATED, F.STAY, paid=85_000),
            step(E.PAYOUT_FAILED, F.STAY, paid=85_000),
        ),
        85_000,
        S7_STANDS,
    ),
    "L1 late capture, refunded": Scenario(
        (
            step(E.RECEIPT_UNAPPLIED, F.STAY, gross=100_000),
            step(E.UNAPPLIED_REFUNDED, F.STAY, gross=100_000),
            step(E.REFUND_SETTLED, F.STAY, gross=100_000),
        ),
        0,
        {},
    ),
    "L1b late capture, whose refund came back": Scenario(
        (
            step(E.RECEIPT_UNAPPLIED, F.STAY, gross=100_000),
            step(E.UNAPPLIED_REFUNDED, F.STAY, gross=100_000),
            step(E.REFUND_SETTLED, F.STAY, gross=100_000),
            step(E.UNAPPLIED_REFUND_FAILED, F.STAY, gross=100_000),
            step(E.REFUND_RETURNED, F.STAY, gross=100_000),
        ),
        0,
        {A.CASH: 100_000, A.SUS: -100_000},
    ),
    "L1c late capture that was moved on, refunded": Scenario(
        (
            step(E.RECEIPT_UNAPPLIED, F.SALE, gross=5000, transfer=4700),
            step(E.UNAPPLIED_REFUNDED, F.SALE, gross=5000, transfer=4700),
            step(E.REFUND_SETTLED, F.SALE, gross=5000),
        ),
        0,
        {},
    ),
    "L2 late capture, applied": Scenario(
        (
            step(E.RECEIPT_UNAPPLIED, F.SALE, gross=5000, transfer=4700),
            step(E.UNAPPLIED_APPLIED, F.SALE, gross=5000, transfer=4700),
            *T1,
        ),
        4600,
        T1_STANDS,
    ),
    "C1 campaign of three weeks": Scenario(
        (step(E.CAPTURED, F.CAMPAIGN, gross=14_700, surplus=0), WEEK, WEEK, WEEK), 0, {A.MA: 14_700, A.CPR: -14_700}
    ),
    "C2 campaign paid too much": Scenario(
        (step(E.CAPTURED, F.CAMPAIGN, gross=14_700, surplus=300),), 0, {A.MA: 15_000, A.DEF: -14_700, A.SUS: -300}
    ),
    "C3 campaign paid too little": Scenario(
        (step(E.RECEIPT_UNAPPLIED, F.CAMPAIGN, gross=14_000),), 0, {A.MA: 14_000, A.SUS: -14_000}
    ),
    "C4 campaign whose refund failed": Scenario(
        (
            step(E.CAPTURED, F.CAMPAIGN, gross=14_700, surplus=0),
            step(E.REFUND_ACCRUED, F.CAMPAIGN, gross=4900),
            step(E.REFUND_FAILED, F.CAMPAIGN, gross=4900),
        ),
        0,
        {A.MA: 14_700, A.DEF: -14_700},
    ),
    "C5 campaign that goes back whole after a week": Scenario(
        (
            step(E.CAPTURED, F.CAMPAIGN, gross=14_700, surplus=0),
            WEEK,
            step(E.REFUND_ACCRUED, F.CAMPAIGN, gross=14_700),
            step(E.REFUND_SETTLED, F.CAMPAIGN, gross=14_700),
            step(E.CAMPAIGN_UNEARNED, F.CAMPAIGN, unearned=4900),
        ),
        0,
        {},
    ),
    "R1 ledger above gateway": Scenario((step(E.ROUNDED_DOWN, F.STAY, difference=37),), 0, {A.RND: 37, A.CASH: -37}),
    "R2 ledger below gateway": Scenario((step(E.ROUNDED_UP, F.SALE, difference=37),), 0, {A.MA: 37, A.RND: -37}),
}
