"""What a page may cost whoever opens it for the first time on a telephone, looked at by a script as Lighthouse does.

    scale = await Scale.under(page)
    await page.goto("/e/…")
    assert await scale.complaints() == []

The browser counts what came over the wire, headers and all, with an empty cache; the page says how large it is, what
it waited for before it could be painted, and how far what was painted moved.
"""

from typing import Any, Final

from playwright.async_api import CDPSession, Page

BYTES: Final = 50_000
REQUESTS: Final = 20
NODES: Final = 1_500
SHIFT: Final = 0.1
"""Google calls less than this good."""
SHEETS: Final = 4

LOOK = """
async () => {
  // A machine that has much to do paints late, and tells of it later still.
  const painted = () => performance.getEntriesByName("first-contentful-paint").length;
  for (let tries = 0; !painted() && tries < 40; tries += 1) await new Promise((told) => setTimeout(told, 50));
  const shifts = await new Promise((told) => {
    const moved = { sum: 0, what: [] };
    new PerformanceObserver((list) => {
      for (const each of list.getEntries().filter((entry) => !entry.hadRecentInput)) {
        moved.sum += each.value;
        moved.what.push(...each.sources.map(({ node }) => (node?.outerHTML ?? "").replace(/\\s+/g, " ").slice(0, 60)));
      }
    }).observe({ type: "layout-shift", buffered: true });
    requestAnimationFrame(() => setTimeout(() => told(moved), 50));
  });
  return {
    nodes: document.querySelectorAll("*").length,
    shift: shifts.sum,
    moved: shifts.what.join(" and "),
    sheets: document.querySelectorAll("link[rel=stylesheet]").length,
    blocking: [...document.querySelectorAll("script[src]")].filter((each) => each.type !== "module" && !each.async && !each.defer).length,
    inline: [...document.querySelectorAll("script:not([src])")].filter((each) => each.type !== "application/ld+json").length,
    painted: painted(),
  };
}
"""


class Scale:
    def __init__(self, page: Page, wire: CDPSession) -> None:
        self.bytes = 0
        self.requests: list[str] = []
        self._page = page
        self._wire = wire

    @classmethod
    async def under(cls, page: Page) -> "Scale":
        wire = await page.context.new_cdp_session(page)
        scale = cls(page, wire)
        wire.on("Network.requestWillBeSent", scale._sent)
        wire.on("Network.loadingFinished", scale._came)
        await wire.send("Network.enable")
        await wire.send("Network.setCacheDisabled", {"cacheDisabled": True})
        return scale

    def _sent(self, said: dict[str, Any]) -> None:
        if said["type"] == "Document":
            self.bytes, self.requests = 0, []
        self.requests.append(said["request"]["url"])

    def _came(self, said: dict[str, Any]) -> None:
        self.bytes += int(said["encodedDataLength"])

    async def complaints(self) -> list[str]:
        """What is beyond the budget of the page that was opened last."""
        seen = await self._page.evaluate(LOOK)
        return [
            f"{what}: {value}, and {most} may be"
            for what, value, most in (
                ("bytes over the wire", self.bytes, BYTES),
                ("requests", len(self.requests), REQUESTS),
                ("elements", seen["nodes"], NODES),
                (f"layout shift of {seen['moved']}", round(seen["shift"], 3), SHIFT),
                ("style sheets", seen["sheets"], SHEETS),
                ("scripts that it waits for", seen["blocking"] + seen["inline"], 0),
                ("things that are not painted", 1 - seen["painted"], 0),
            )
            if value > most
        ]
