"""The mailbox of a developer who has no mail server: a folder of mails, the newest of which a page shows.

Promise: it exists on a person's own machine only, where nobody else reaches us, never in production, and never beside a
mail server: whoever reads it can sign in as everybody. A letter that is put in twice is there once. Old ones make room
for new ones.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from pathlib import Path
from typing import Final, Self

from admitone.foundation.mail.model import Fate, LetterId
from admitone.foundation.mail.settings import SMTP_URL, is_private
from admitone.foundation.mail.writing import Mail
from admitone.kernel.config import Config

ROOM: Final = 100


@dataclass(frozen=True, slots=True)
class Mailbox:
    """Mails as files, named after their letters: so they sort by time, and any mail program opens one."""

    folder: Path

    @classmethod
    def of(cls, config: Config) -> Self | None:
        if config.find(SMTP_URL) or not is_private(config):
            return None
        return cls(config.home / "mailbox")

    @asynccontextmanager
    async def set_out(self) -> AsyncIterator[Self]:
        yield self

    async def carry(self, mail: Mail) -> Fate:
        await asyncio.to_thread(self._put, mail.letter, mail.content)
        return Fate.SENT

    async def list_newest(self) -> list[tuple[LetterId, EmailMessage]]:
        return await asyncio.to_thread(lambda: [(letter, self._read(letter)) for letter in self._letters()[:ROOM]])

    async def find(self, letter: LetterId) -> EmailMessage | None:
        there = letter in await asyncio.to_thread(self._letters)
        return await asyncio.to_thread(self._read, letter) if there else None

    def _put(self, letter: LetterId, mail: bytes) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(prefix=".draft-", dir=self.folder)
        with os.fdopen(handle, "wb") as file:
            file.write(mail)
        Path(draft).replace(self._file(letter))
        for old in self._letters()[ROOM:]:
            self._file(old).unlink(missing_ok=True)

    def _letters(self) -> list[LetterId]:
        """The newest first."""
        return sorted((LetterId.parse(file.stem) for file in self.folder.glob("ltr_*.eml")), reverse=True)

    def _read(self, letter: LetterId) -> EmailMessage:
        return BytesParser(policy=default).parsebytes(self._file(letter).read_bytes())

    def _file(self, letter: LetterId) -> Path:
        return self.folder / f"{letter}.eml"
