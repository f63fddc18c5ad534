"""Facts: what happened, in the past tense.

Promise: a fact has a name (`domain.action`) and a version that are checked when its class is made, carries ids
rather than personal data, and is published by a command through `tx.publish`, so that it commits with the rows.
"""

import re
from typing import ClassVar

import msgspec

NAME = re.compile(r"^[a-z0-9_]+(\.[a-z0-9_]+)+$")
VERSION = re.compile(r"^\d+\.\d+\.\d+$")


class Fact(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of all facts. A subclass says what it is called and which version its fields are."""

    name: ClassVar[str]
    version: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not NAME.match(cls.name):
            raise TypeError(f"a fact is called domain.action in lower case, not {cls.name!r}")
        if not VERSION.match(cls.version):
            raise TypeError(f"a fact has a semantic version, not {cls.version!r}")
