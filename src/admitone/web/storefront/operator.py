"""Who runs this installation: what the law wants said of them, on every page's last line.

Promise: in production nobody sells under a name that was made up here. What is missing there stops the start, by name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from admitone.kernel.config import Config, Key, When, at_least, reads
from admitone.kernel.ports import Port


def _address_of(value: str) -> str:
    name, at, host = value.partition("@")
    if not name or not at or "." not in host or any(sign.isspace() for sign in value):
        raise ValueError(value)
    return value


NAME: Final = Key("OPERATOR_NAME", "the legal name of whoever runs this installation", When.PRODUCTION, at_least(2))
ADDRESS: Final = Key("OPERATOR_ADDRESS", "its postal address, with `;` between the lines", When.PRODUCTION, at_least(5))
EMAIL: Final = Key("OPERATOR_EMAIL", "an e-mail address that people can write to", When.PRODUCTION, reads(_address_of))
TAX_ID: Final = Key("OPERATOR_TAX_ID", "its tax or company number, where it has one")
KEYS: Final = (NAME, ADDRESS, EMAIL, TAX_ID)

OF_THE_DEMONSTRATION: Final[Mapping[Key, str]] = {
    NAME: "Admit One Demonstration",
    ADDRESS: "Rua do Exemplo 1; 4000-001 Porto; Portugal",
    EMAIL: "hello@admitone.example",
    TAX_ID: "PT 500000000",
}


@dataclass(frozen=True)
class Operator:
    name: str
    address: tuple[str, ...]
    email: str
    tax_id: str | None

    @classmethod
    def of(cls, config: Config) -> "Operator":
        """On a person's own machine, where nobody is sold anything, the demonstration's."""
        instead = {} if config.in_production else OF_THE_DEMONSTRATION
        said = {key: config.find(key) or instead.get(key, "") for key in KEYS}
        lines = tuple(line.strip() for line in said[ADDRESS].split(";") if line.strip())
        return cls(said[NAME], lines, said[EMAIL], said[TAX_ID] or None)


OPERATOR: Final = Port[Operator]("operator")
