"""Refusals on their way out: one table of statuses, one envelope, one error page.

Promise: whatever goes wrong, the answer is `errorCode, message, retryable, correlationId` (and `nextStep` where there
is one) with the refusal's typed facts beside them, in the person's language, and never more detail than the refusal
itself carries.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from admitone.kernel import errors
from admitone.kernel.authority import FeatureDisabled, PermissionDenied, Stopped
from admitone.kernel.contracts.templates import template
from admitone.kernel.contracts.wire import Wire, to_json
from admitone.kernel.errors import Forbidden, Invalid, Malformed, Refusal, Unauthenticated
from admitone.kernel.words import Words


class FieldError(Wire):
    """What is wrong with one field, where `$` is the whole request."""

    path: str
    message: str


class ValidationFailed(Invalid):
    """The request does not have the form that this operation takes."""

    errors: tuple[FieldError, ...]

    @classmethod
    def at(cls, path: str, message: str) -> "ValidationFailed":
        return cls(errors=(FieldError(path=path, message=message),))


class MalformedJson(Malformed):
    """The body is not JSON."""

    code = "MALFORMED_JSON"
    problem: str


class MalformedForm(Malformed):
    """The form cannot be read."""

    code = "MALFORMED_FORM"


class RepeatedHeader(Malformed):
    """A header that must come once came twice."""

    code = "REPEATED_HEADER"
    header: str


class UnsupportedMediaType(Malformed):
    """This operation does not take this type of content."""

    code = "UNSUPPORTED_MEDIA_TYPE"
    expected: str


class RequestTooSlow(Malformed):
    """The request did not arrive in time."""

    code = "REQUEST_TOO_SLOW"
    retryable = True


class RouteNotFound(errors.NotFound):
    """There is nothing at this address."""


class MethodNotAllowed(Refusal):
    """This address does not take this method."""

    code = "METHOD_NOT_ALLOWED"
    allowed: tuple[str, ...]


class OrganizationContextRequired(Forbidden):
    """Say for which organisation: in the path, as organizationId in the query, or in the header x-orya-org-id."""

    code = "ORG_CONTEXT_REQUIRED"


class OrganizationContextAmbiguous(OrganizationContextRequired):
    """The request does not name one organisation clearly."""

    audited = True


class InternalOnly(Forbidden):
    """Only our own processes may do this."""

    code = "INTERNAL_ONLY"
    audited = True


class CrossSiteRequest(Forbidden):
    """The request came from another site."""

    code = "CROSS_SITE_REQUEST"
    audited = True


class CredentialsDisagree(Unauthenticated):
    """Two different credentials came with one request; send one."""

    code = "CREDENTIALS_DISAGREE"


class NotDoneYet(errors.Conflict):
    """Nothing was done yet."""

    code = "NOT_DONE_YET"
    next_step = "Look at what you typed, and send it again."


class InternalError(Refusal):
    """Something went wrong on our side; the correlation id helps us to find it."""

    code = "SERVER_ERROR"


STATUS: dict[type[Refusal], int] = {
    UnsupportedMediaType: 415,
    RequestTooSlow: 408,
    Malformed: 400,
    Unauthenticated: 401,
    errors.PaymentRequired: 402,
    Forbidden: 403,
    errors.NotFound: 404,
    MethodNotAllowed: 405,
    errors.Conflict: 409,
    errors.Gone: 410,
    errors.TooLarge: 413,
    Invalid: 422,
    errors.Throttled: 429,
    errors.Unavailable: 503,
    InternalError: 500,
}

NEVER_COMMON = (errors.NotFound, errors.Conflict, errors.PaymentRequired, errors.Gone)
"""Too vague to be raised without a word in the contract."""


AUTHORITYS_OWN = (FeatureDisabled, PermissionDenied, Stopped)
"""What the authority says for every contract, in its own words too."""


def status_of(kind: type[Refusal]) -> int:
    """The status of the nearest ancestor in the table."""
    return next((STATUS[ancestor] for ancestor in kind.__mro__ if ancestor in STATUS), 500)


def is_common(refusal: Refusal) -> bool:
    """Whether any contract may answer this without declaring it: what the kernel or its authority refuses."""
    kind = type(refusal)
    ours = kind.__module__.startswith("admitone.kernel.") and kind not in NEVER_COMMON
    return ours or isinstance(refusal, AUTHORITYS_OWN)


def envelope_of(refusal: Refusal, correlation_id: str, words: Words) -> dict[str, Any]:
    envelope = {
        **refusal.stated(),
        "errorCode": refusal.code,
        "message": words.say(refusal.message()),
        "retryable": refusal.retryable,
        "correlationId": correlation_id,
    }
    if refusal.next_step:
        envelope["nextStep"] = words.say(refusal.next_step)
    return envelope


def json_of(refusal: Refusal, correlation_id: str, words: Words) -> bytes:
    return to_json(envelope_of(refusal, correlation_id, words))


def page_of_refusal(envelope: Mapping[str, object], status: int, words: Words, looking: object) -> str:  # noqa: ARG001
    """The same for a person with a browser, where there are no other pages."""
    return template("refusal.html").render(envelope=envelope, status=status, language=words.language.tag, say=words.say)


def headers_of(refusal: Refusal) -> list[tuple[bytes, bytes]]:
    """What a client acts on without reading the body."""
    headers: list[tuple[bytes, bytes]] = []
    if isinstance(refusal, Unauthenticated):
        headers.append((b"www-authenticate", b"Bearer"))
    if isinstance(refusal, MethodNotAllowed):
        headers.append((b"allow", ", ".join(refusal.allowed).encode()))
    if isinstance(refusal, (errors.Throttled, errors.Unavailable)):
        headers.append((b"retry-after", str(max(1, refusal.retry_after_seconds)).encode()))
    return headers


def reason_of(status: int) -> str:
    return HTTPStatus(status).phrase
