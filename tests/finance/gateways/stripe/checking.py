"""Every request is what Stripe's own SDK says such a request may be: its types, read at run time.

Unknown, missing and mistyped parameters are found, however deep; words of an enumeration are not, because the SDK lets any
string pass for the sake of those that come later.
"""

import re
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import stripe.params
import stripe.params.checkout
from pydantic import ConfigDict, TypeAdapter, ValidationError

from tests.finance.gateways.stripe.forms import read_form

ONE = r"[a-z]+_[A-Za-z0-9_]+"
REQUESTS = {
    ("POST", r"/v1/payment_intents"): "PaymentIntentCreateParams",
    ("GET", r"/v1/payment_intents/search"): "PaymentIntentSearchParams",
    ("GET", rf"/v1/payment_intents/{ONE}"): "PaymentIntentRetrieveParams",
    ("POST", rf"/v1/payment_intents/{ONE}/cancel"): "PaymentIntentCancelParams",
    ("POST", r"/v1/checkout/sessions"): "checkout.SessionCreateParams",
    ("GET", r"/v1/checkout/sessions"): "checkout.SessionListParams",
    ("GET", rf"/v1/checkout/sessions/{ONE}"): "checkout.SessionRetrieveParams",
    ("POST", rf"/v1/checkout/sessions/{ONE}/expire"): "checkout.SessionExpireParams",
    ("GET", r"/v1/charges"): "ChargeListParams",
    ("POST", r"/v1/refunds"): "RefundCreateParams",
    ("GET", r"/v1/refunds"): "RefundListParams",
    ("GET", rf"/v1/refunds/{ONE}"): "RefundRetrieveParams",
    ("GET", r"/v1/disputes"): "DisputeListParams",
    ("GET", rf"/v1/disputes/{ONE}"): "DisputeRetrieveParams",
    ("POST", rf"/v1/disputes/{ONE}"): "DisputeUpdateParams",
    ("POST", rf"/v1/application_fees/{ONE}/refunds"): "ApplicationFeeCreateRefundParams",
    ("GET", rf"/v1/application_fees/{ONE}/refunds"): "ApplicationFeeListRefundsParams",
    ("POST", r"/v1/accounts"): "AccountCreateParams",
    ("GET", rf"/v1/accounts/{ONE}"): "AccountRetrieveParams",
    ("POST", r"/v1/account_links"): "AccountLinkCreateParams",
    ("POST", r"/v1/transfers"): "TransferCreateParams",
    ("GET", r"/v1/transfers"): "TransferListParams",
    ("POST", rf"/v1/transfers/{ONE}/reversals"): "TransferReversalCreateParams",
    ("GET", rf"/v1/transfers/{ONE}/reversals"): "TransferReversalListParams",
    ("GET", r"/v1/events"): "EventListParams",
    ("GET", r"/v1/balance_transactions"): "BalanceTransactionListParams",
}
"""Everything that we ask of Stripe, and by which of its types."""
OPTIONS = {"api_key", "stripe_version", "stripe_account", "stripe_context", "idempotency_key", "headers"}
"""What some of the types allow for older callers; none of it belongs in a request."""


class NoSuchRequest(AssertionError):
    """We ask for something that is not in the table."""


def check_request(method: str, path: str, form: str) -> None:
    """Raises for what Stripe would not understand."""
    params = read_form(form)
    assert not OPTIONS & params.keys(), f"{OPTIONS & params.keys()} are options, and no parameters"
    name = next(
        (name for (verb, known), name in REQUESTS.items() if verb == method and re.fullmatch(known, path)), None
    )
    if name is None:
        raise NoSuchRequest(f"{method} {path}")
    try:
        adapter_of(name).validate_python(params)
    except ValidationError as wrong:
        raise AssertionError(f"{method} {path}: {wrong}") from None


@cache
def adapter_of(name: str) -> TypeAdapter[Any]:
    shelf, _, own = name.rpartition(".")
    kind = getattr(stripe.params.checkout if shelf else stripe.params, own)
    with _resolvable(kind):
        adapter: TypeAdapter[Any] = TypeAdapter(kind)
        adapter.rebuild(force=True, raise_errors=True)
    return adapter


class _Untyped:
    """In place of the SDK's own class for what anybody may write."""

    def __class_getitem__(cls, item: Any) -> Any:
        return dict[str, item]


@contextmanager
def _resolvable(kind: Any) -> Any:
    """Some names in the annotations are known to type checkers only; and nothing may be in a request that is not named."""
    names = vars(sys.modules[kind.__module__])
    before = dict(names)
    names |= {"UntypedStripeObject": _Untyped, "StripeContext": str, "Mapping": Mapping}
    for each in before.values():
        if isinstance(each, type) and hasattr(each, "__required_keys__"):
            each.__pydantic_config__ = ConfigDict(extra="forbid")
    try:
        yield
    finally:
        names.clear()
        names |= before
