"""A scene that somebody comes to by doing something, looked at as every page is: on a telephone and at a desk, in the
light and in the dark, and weighed.

    eyes = await Eyes.on(page)              before it is loaded, for what came over the wire is counted
    await page.goto("/e/…/tickets")
    await eyes.look()
"""

from typing import Final

from playwright.async_api import Page

from tests.browser.budget import Scale
from tests.browser.examining import complaints_about

LOOKS: Final = (
    {"width": 360, "height": 740, "scheme": "light"},
    {"width": 360, "height": 740, "scheme": "dark"},
    {"width": 1440, "height": 900, "scheme": "light"},
    {"width": 1440, "height": 900, "scheme": "dark"},
)
SCHEME: Final = "matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'"


async def examined(page: Page) -> list[str]:
    """What is wrong with it in any of the ways people look at it."""
    wrong: list[str] = []
    for look in LOOKS:
        await page.set_viewport_size({"width": look["width"], "height": look["height"]})
        await page.emulate_media(color_scheme=look["scheme"])
        wrong += [f"{look['width']} {look['scheme']}: {each}" for each in await complaints_about(page)]
    return wrong


class Eyes:
    def __init__(self, page: Page, scale: Scale) -> None:
        self._page = page
        self._scale = scale

    @classmethod
    async def on(cls, page: Page) -> "Eyes":
        return cls(page, await Scale.under(page))

    async def look(self) -> None:
        """Nothing is wrong with what stands there now; it is left as it was found."""
        page, size, scheme = self._page, self._page.viewport_size, await self._page.evaluate(SCHEME)
        wrong = [*await self._scale.complaints(), *await examined(page)]
        assert wrong == [], f"{page.url}: {wrong}"
        assert size is not None
        await page.set_viewport_size(size)
        await page.emulate_media(color_scheme=scheme)
