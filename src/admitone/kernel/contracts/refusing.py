"""Refusals as answers: the envelope for programs, a page for people."""

from admitone.kernel.contracts.answering import HTML_TYPE, JSON_TYPE, Answer, safety_headers
from admitone.kernel.contracts.contract import Contract
from admitone.kernel.contracts.incoming import Incoming
from admitone.kernel.contracts.media import Writes
from admitone.kernel.contracts.refusals import headers_of, json_of, page_of_refusal, status_of
from admitone.kernel.errors import Refusal, TooLarge
from admitone.kernel.words import Words, choose

_JSON_ERROR = safety_headers(JSON_TYPE)
_HTML_ERROR = safety_headers(HTML_TYPE)


def answer_of(refusal: Refusal, incoming: Incoming, contract: Contract | None) -> Answer:
    words = Words(choose(incoming.headers.get(b"accept-language", b"").decode("latin-1")))
    own = headers_of(refusal)
    if isinstance(refusal, TooLarge):
        # What was not read is still on its way; there is nothing to do with this connection but to close it.
        own.append((b"connection", b"close"))
    if _is_for_a_person(incoming, contract):
        content, headers = page_of_refusal(refusal, incoming.correlation_text, words), _HTML_ERROR
    else:
        content, headers = json_of(refusal, incoming.correlation_text, words), _JSON_ERROR
    return Answer(status_of(type(refusal)), headers, content, own=own, error_code=refusal.code)


def _is_for_a_person(incoming: Incoming, contract: Contract | None) -> bool:
    if contract is not None:
        return contract.writes is Writes.PAGE
    return b"text/html" in incoming.headers.get(b"accept", b"") and not incoming.path.startswith("/api/")
