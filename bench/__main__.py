"""usage: python -m bench

Runs every bench and fails when a figure that must be reached is not.
"""

import sys

from bench import (
    checkin,
    checkout,
    coupons,
    gateways,
    growth,
    identity,
    jobs,
    ledger,
    letters,
    pages,
    payouts,
    reconciliation,
    refunds,
    tickets,
    toy,
    webhooks,
)
from bench.figures import Figures


def main() -> int:
    figures = Figures()
    toy.measure(figures)
    jobs.measure(figures)
    identity.measure(figures)
    ledger.measure(figures)
    gateways.measure(figures)
    reconciliation.measure(figures)
    webhooks.measure(figures)
    checkout.measure(figures)
    refunds.measure(figures)
    payouts.measure(figures)
    checkin.measure(figures)
    tickets.measure(figures)
    letters.measure(figures)
    tickets.storm(figures)
    growth.measure(figures)
    coupons.measure(figures)
    pages.measure(figures)
    if figures.missed:
        print(f"\nMissed: {', '.join(figures.missed)}")
        return 1
    print("\nAll figures reached.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
