"""What the law wants said: always reachable, by anybody, in their language (PRV-030, PRV-031).

Promise: it says what this software does, and no more. Which version it is, and since when, stands on each page.
"""

from datetime import date
from typing import Final

from admitone.kernel.contracts import Call, Html
from admitone.web.page import page, show
from admitone.web.storefront.discover import AS_IT_IS_NOW
from admitone.web.storefront.operator import OPERATOR

VERSION: Final = "1.0.0"
IN_FORCE_SINCE: Final = date(2026, 11, 18)

terms = page("SHOP.TERMS", "The terms.", get="/legal/terms", cache=AS_IT_IS_NOW, conditional=True)
privacy = page("SHOP.PRIVACY", "What is kept of whom.", get="/legal/privacy", cache=AS_IT_IS_NOW, conditional=True)
refunds = page("SHOP.REFUNDS", "When money goes back.", get="/legal/refunds", cache=AS_IT_IS_NOW, conditional=True)
company = page("SHOP.COMPANY", "Who runs this.", get="/legal/company", cache=AS_IT_IS_NOW, conditional=True)


@terms.serves
async def show_terms(call: Call) -> Html:
    return _show(call, "terms")


@privacy.serves
async def show_privacy(call: Call) -> Html:
    return _show(call, "privacy")


@refunds.serves
async def show_refunds(call: Call) -> Html:
    return _show(call, "refunds")


@company.serves
async def show_company(call: Call) -> Html:
    return _show(call, "company")


def _show(call: Call, name: str) -> Html:
    template = f"storefront/legal/{name}.html"
    return show(call, template, operator=OPERATOR(), version=VERSION, in_force_since=IN_FORCE_SINCE)


CONTRACTS: Final = (terms, privacy, refunds, company)
