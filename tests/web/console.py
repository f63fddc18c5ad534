"""The console as somebody with a browser meets it: pages that are looked at, and forms that are sent."""

from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

import httpx

from tests.people import Person
from tests.verticals.events.stage import Stage

FORM = "application/x-www-form-urlencoded"


@dataclass
class Console:
    stage: Stage

    @property
    def home(self) -> str:
        return f"/org/{self.stage.organization}"

    def of(self, event: dict[str, Any], *parts: str) -> str:
        return "/".join((self.home, "events", event["eventId"], *parts))

    async def see(self, path: str, person: Person | None = None, **query: str) -> httpx.Response:
        headers = (person or self.stage.owner).headers
        return await self.stage.site.get(path, params=query or None, headers=headers)

    async def send(self, path: str, person: Person | None = None, /, **typed: Any) -> httpx.Response:
        """A form, as a browser sends it; a list is a box that stands there more than once."""
        headers = (person or self.stage.owner).headers
        return await self.stage.site.post(path, data=typed or None, headers=headers)

    async def fine(self, path: str, person: Person | None = None, **query: str) -> str:
        answer = await self.see(path, person, **query)
        assert answer.status_code == 200, answer.text
        return answer.text

    async def boxes(self, path: str) -> dict[str, Any]:
        """What a form shows, ready to be sent back unchanged."""
        return boxes_of(await self.fine(path))


class _Boxes(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[str]] = {}
        self._select = self._text = ""
        self._in_main = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        name = said.get("name", "")
        if tag == "main":
            self._in_main = True
        elif not self._in_main:
            return
        elif tag == "input" and name and not (said.get("type") == "checkbox" and "checked" not in said):
            self.found.setdefault(name, []).append(said.get("value", ""))
        elif tag == "select":
            self._select = name
            self.found.setdefault(name, [])
        elif tag == "option" and self._select and ("selected" in said or not self.found[self._select]):
            self.found[self._select] = [said["value"]]
        elif tag == "textarea":
            self._text = name
            self.found.setdefault(name, []).append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._text = ""
        elif tag == "select":
            self._select = ""
        elif tag == "main":
            self._in_main = False

    def handle_data(self, data: str) -> None:
        if self._text:
            self.found[self._text][-1] += data


def boxes_of(html: str) -> dict[str, Any]:
    reader = _Boxes()
    reader.feed(html)
    return {name: values if len(values) > 1 else values[0] for name, values in reader.found.items() if values}
