"""What payments refuse."""

from admitone.kernel.errors import Conflict, Forbidden, Invalid, NotFound, Unauthenticated, Unavailable
from admitone.kernel.ids import IdentityId


class PaymentNotFound(NotFound):
    """There is no such payment."""

    code = "PAYMENT_NOT_FOUND"


class SourceNotSold(NotFound):
    """Nothing of this kind is sold here."""

    code = "SOURCE_NOT_FOUND"


class PriceChanged(Conflict):
    """The price is no longer what you were shown."""

    code = "PRICE_CHANGED"
    next_step = "Look at the new price, and pay again if you agree."
    snapshot_hash: str
    amount_minor: int
    currency: str


class PaymentInProgress(Conflict):
    """Somebody is paying for this already."""

    code = "PAYMENT_IN_PROGRESS"
    next_step = "Finish or cancel that payment first."


class AlreadyPaid(Conflict):
    """This is paid already."""

    code = "ALREADY_PAID"


class OfferEnded(Conflict):
    """It is not kept for you any longer."""

    code = "OFFER_ENDED"
    next_step = "Begin again; there may still be some left."


class SignInToPay(Unauthenticated):
    """Sign in to pay for this."""

    code = "UNAUTHENTICATED"


class ConnectNotReady(Forbidden):
    """This organisation cannot take payments yet."""

    code = "FINANCE_CONNECT_NOT_READY"
    next_step = "The organisation completes its account at the payment provider first."


class OnRiskHold(Forbidden):
    """New payments to this organisation are on hold."""

    code = "FINANCE_RISK_HOLD"
    next_step = "Write to support; somebody is looking at it."


class SaleStopped(Forbidden):
    """This is not sold at the moment."""

    code = "SALE_STOPPED"


class GatewayKeyMissing(Unavailable):
    """Paid checkout is not configured here: there is no provider for this way of paying."""

    code = "CONFIG_STRIPE_KEY_MISSING"
    retryable = False


class MethodNotForCurrency(Invalid):
    """This way of paying does not take this currency."""

    code = "METHOD_NOT_FOR_CURRENCY"


class FreeNotAllowed(Forbidden):
    """This is never given away."""

    code = "FREE_NOT_ALLOWED"


class FreeUncounted(Conflict):
    """This costs nothing, and nobody has looked yet how often you come."""

    code = "FREE_UNCOUNTED"
    buyer: IdentityId


class FreeLimitReached(Forbidden):
    """You have had this for nothing as often as one person may."""

    code = "FREE_LIMIT_REACHED"


class NotReturnable(Conflict):
    """There is no money here that waits for a decision."""

    code = "NOTHING_UNAPPLIED"


class CommissionTooMuch(Conflict):
    """Of this payment there is not so much that could be held or kept as a commission."""

    code = "COMMISSION_TOO_MUCH"


class NotHeld(Conflict):
    """Of this payment nothing is held that could become due to anybody."""

    code = "NOTHING_HELD"


class NotWhatIsHeld(Conflict):
    """This is not what is held of the payment."""

    code = "NOT_WHAT_IS_HELD"
    next_step = "Let what goes back go back first; then say what is left for the payee."
    due_minor: int
    currency: str


class GatewayRefused(Conflict):
    """The payment provider refused this payment."""

    code = "GATEWAY_REFUSED"
    next_step = "Try another way of paying."
    reason: str


class ProviderUnanswered(Unavailable):
    """The payment provider gave no answer that we understand."""

    code = "PROVIDER_UNANSWERED"


class NotAtProvider(NotFound):
    """The payment provider does not know what we ask about."""

    code = "NOT_AT_PROVIDER"


class ReturnSpent(Conflict):
    """The payment provider was asked as often as we ask by ourselves, and did not answer."""

    code = "RETURN_SPENT"
    next_step = "Look at the provider whether the money went back, then decide again."


class ForeignReference(Conflict):
    """The provider's reference belongs to another payment."""

    code = "FOREIGN_REFERENCE"


class AccountMismatch(Conflict):
    """The account is not this organisation's."""

    code = "ACCOUNT_MISMATCH"


class OnboardingIncomplete(Forbidden):
    """Something is missing before this organisation can take payments."""

    code = "ONBOARDING_INCOMPLETE"
    next_step = "Complete the settings and agree to the documents that are named, then try again."
    missing: tuple[str, ...]


class AlreadyOnHold(Conflict):
    """This organisation is on hold already."""

    code = "ALREADY_ON_HOLD"


class NotOnHold(Conflict):
    """This organisation is not on hold."""

    code = "NOT_ON_HOLD"


class AccountTypeRefused(Conflict):
    """Only a standard account is connected."""

    code = "ACCOUNT_TYPE_NOT_ALLOWED"
    next_step = "Connect an account that belongs to the organisation itself."


class NotRefundable(Conflict):
    """Nothing of this payment can be given back as it stands."""

    code = "NOT_REFUNDABLE"
    status: str


class RefundTooMuch(Conflict):
    """There is not so much left of this payment that could be given back."""

    code = "REFUND_TOO_MUCH"
    left_minor: int
    currency: str


class RefundPutOff(Unavailable):
    """The payment provider refuses to give this back; it is asked again."""

    code = "REFUND_PUT_OFF"
    reason: str
