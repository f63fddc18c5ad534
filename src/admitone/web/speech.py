"""How templates speak: an environment for each language.

Promise: what is put into a template is escaped; a name that is missing fails in a test and not in front of a person.
What a template says in words that never change, `say("Tickets")`, is translated and escaped once, when the template is
compiled, and comes out as it would if it were said each time.
"""

from collections.abc import Callable, Mapping, MutableMapping
from datetime import date, datetime
from functools import cache
from typing import Any, Final
from urllib.parse import quote
from zoneinfo import ZoneInfo

from jinja2 import Environment, PackageLoader, StrictUndefined, nodes
from jinja2.visitor import NodeTransformer

from admitone.kernel.money import Money
from admitone.kernel.words import Language, Words
from admitone.web.assets import asset

NAMES: Final = {Language.ENGLISH: "English", Language.PORTUGUESE: "Português", Language.BRAZILIAN: "Português (Brasil)"}
UTC: Final = ZoneInfo("UTC")


@cache
def templates_in(language: Language) -> Environment:
    """All templates, as they speak this language."""
    return _Speaking(Words(language))


class _Speaking(Environment):
    def __init__(self, words: Words) -> None:
        super().__init__(
            loader=PackageLoader("admitone.web", "templates"),
            autoescape=True,
            auto_reload=False,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.globals |= _speech(words)
        self._known = _Known({"say": words.say, "asset": asset})

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """No template has any of its own, and all of these are looked through for each page: not in a chain of two."""
        return self.globals if d is None else super().make_globals(d)

    def _generate(self, source: nodes.Template, *args: Any, **kwargs: Any) -> str:
        """What the template's tree becomes as Python. Jinja has this method for others to go before."""
        return super()._generate(self._known.visit(source), *args, **kwargs)


class _Known(NodeTransformer):
    """Puts what is known already in the place of a call that has one constant text and nothing else."""

    def __init__(self, functions: Mapping[str, Callable[[str], str]]) -> None:
        self._functions = functions

    def visit_Call(self, node: nodes.Call) -> nodes.Node:  # noqa: N802, named after the node
        match self.generic_visit(node):
            case nodes.Call(
                node=nodes.Name(name=name), args=[nodes.Const(value=text)], kwargs=[], dyn_args=None, dyn_kwargs=None
            ) if name in self._functions:
                return nodes.Const(self._functions[name](text), lineno=node.lineno)
        return node


def _speech(words: Words) -> Mapping[str, Any]:
    """What every template can say."""
    return {
        "say": words.say,
        "plural": words.plural,
        "number": words.number,
        "percent": words.percent,
        "money": lambda minor, currency: words.money(Money(minor, currency)),
        "amount": lambda minor, currency: words.amount(Money(minor, currency)),
        "day": lambda at: words.day(at) if not isinstance(at, datetime) else words.date(at, UTC),
        "date": lambda at, zone="UTC": words.date(at, ZoneInfo(zone)),
        "time": lambda at, zone="UTC": words.time(at, ZoneInfo(zone)),
        "moment": lambda at, zone="UTC": words.moment(at, ZoneInfo(zone)),
        "instant": _machine_readable,
        "language": words.language.tag,
        "languages": [(each.tag, NAMES[each]) for each in Language],
        "asset": asset,
        "quoted": lambda text: quote(text, safe=""),
    }


def _machine_readable(at: datetime | date) -> str:
    """For `<time datetime>`, which scripts read."""
    return at.isoformat()
