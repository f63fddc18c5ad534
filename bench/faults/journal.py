"""What clients sent and what they were told, on disk before they go on.

Promise: a request is noted before it is sent and its answer before the next one; what was sent and never answered is
unknown. One yes is a yes, whatever was said before or after it.
"""

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any


class Outcome(StrEnum):
    OK = "ok"
    FAILED = "failed"
    """Nothing was done, and we were told so."""
    UNKNOWN = "unknown"
    WRONG = "wrong"
    """An answer that no contract allows. Whether it was done, nobody knows."""


@dataclass(frozen=True)
class Request:
    key: str
    path: str
    body: dict[str, Any]
    headers: dict[str, str]


@dataclass(frozen=True)
class Told:
    outcome: Outcome
    status: int = 0
    answer: Any = None


@dataclass
class Story:
    """All that is known of one request."""

    request: Request
    told: list[Told] = field(default_factory=list)

    @property
    def outcome(self) -> Outcome:
        """By the strongest word: done, then nobody knows, then not done."""
        heard = {told.outcome for told in self.told} or {Outcome.UNKNOWN}
        for outcome in (Outcome.OK, Outcome.WRONG, Outcome.UNKNOWN):
            if outcome in heard:
                return outcome
        return Outcome.FAILED

    @property
    def answers(self) -> list[Any]:
        """What it was answered, each time it was done."""
        return [told.answer for told in self.told if told.outcome is Outcome.OK]


class Journal:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.done = 0

    def close(self) -> None:
        os.close(self._handle)

    def sent(self, request: Request) -> None:
        self._write({"sent": request.key, "path": request.path, "body": request.body, "headers": request.headers})

    def told(self, request: Request, told: Told) -> None:
        self._write({"told": request.key, "outcome": told.outcome, "status": told.status, "answer": told.answer})
        self.done += told.outcome is Outcome.OK

    def _write(self, line: dict[str, Any]) -> None:
        os.write(self._handle, json.dumps(line).encode() + b"\n")
        os.fsync(self._handle)

    def stories(self) -> dict[str, Story]:
        """By key, as the file has them."""
        stories: dict[str, Story] = {}
        for line in map(json.loads, self._file.read_text().splitlines()):
            if key := line.get("sent"):
                stories.setdefault(key, Story(Request(key, line["path"], line["body"], line["headers"])))
            else:
                told = Told(Outcome(line["outcome"]), line["status"], line["answer"])
                stories[line["told"]].told.append(told)
        return stories

    def tally(self) -> dict[str, int]:
        return dict(Counter(str(story.outcome) for story in self.stories().values()))
