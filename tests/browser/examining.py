"""What a careful reader with a screen reader, a keyboard or tired eyes would complain about, looked for by a script.

It looks at one page as it stands in the browser: names, labels, headings, landmarks, references, contrast of every
text against what is behind it, the size of what a finger must hit, whether the page is wider than the screen, and
whether words are broken that had room.
"""

from playwright.async_api import Page

LOOK = r"""
() => {
  const complaints = [];
  const say = (what, node) => complaints.push(node ? `${what}: ${describe(node)}` : what);
  const describe = (node) => node.outerHTML.replace(/\s+/g, " ").slice(0, 140);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const shows = (node) => {
    const box = node.getBoundingClientRect(), style = getComputedStyle(node);
    return box.width > 0 && box.height > 0 && style.visibility !== "hidden" && box.right > 0 && !node.closest("[hidden]");
  };
  const text = (node) => (node?.innerText || node?.textContent || "").trim();
  const referred = (node, attribute) =>
    (node.getAttribute(attribute) ?? "").split(/\s+/).filter(Boolean).map((id) => document.getElementById(id));
  const nameOf = (node) => {
    const by = referred(node, "aria-labelledby").map(text).join(" ").trim();
    const labels = [...(node.labels ?? [])].map((label) => label.textContent.trim()).join(" ");
    const inside = [...node.querySelectorAll?.("img[alt], svg title, [aria-label]") ?? []]
      .map((each) => each.getAttribute("alt") ?? each.getAttribute("aria-label") ?? each.textContent).join(" ");
    return by || node.getAttribute("aria-label") || labels || text(node) || inside || node.getAttribute("title")
      || (node.type === "submit" && node.value) || node.getAttribute("alt") || "";
  };

  // The page itself
  if (!document.documentElement.lang) say("the page has no language");
  if (!document.title.trim()) say("the page has no title");
  if (all("main").length !== 1) say(`there are ${all("main").length} main parts`);
  if (all("h1").filter(shows).length !== 1) say(`there are ${all("h1").filter(shows).length} first headings`);
  let before = 0;
  for (const heading of all("h1, h2, h3, h4, h5, h6").filter(shows)) {
    const level = Number(heading.tagName[1]);
    if (before && level > before + 1) say(`a heading of level ${level} follows one of level ${before}`, heading);
    before = level;
  }
  const ids = all("[id]").map((node) => node.id);
  for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) say(`the id ${id} stands twice`);
  for (const attribute of ["aria-labelledby", "aria-describedby", "aria-controls"]) {
    for (const node of all(`[${attribute}]`)) {
      if (referred(node, attribute).includes(null)) say(`${attribute} leads nowhere`, node);
    }
  }
  for (const label of all("label[for]")) if (!document.getElementById(label.htmlFor)) say("a label of nothing", label);
  for (const node of all("nav")) if (all("nav").length > 1 && !nameOf(node)) say("one of several navs has no name", node);

  // What has to have a name
  for (const node of all("input:not([type=hidden]):not([hidden]), select, textarea")) {
    const named = referred(node, "aria-labelledby").length || node.getAttribute("aria-label") || node.labels?.length;
    if (!named && !(node.type === "submit" && node.value)) say("a field has no label", node);
  }
  for (const node of all("button, a[href], summary, [role=button]")) if (!nameOf(node).trim()) say("nothing is said", node);
  for (const node of all("img")) if (!node.hasAttribute("alt")) say("a picture without words", node);
  for (const node of all("svg")) {
    const hidden = node.closest("[aria-hidden=true], [role=img][aria-label]");  // A picture with a name has no parts.
    const named = node.getAttribute("role") === "img" && (node.getAttribute("aria-label")
      || node.querySelector("title") || referred(node, "aria-labelledby").length);
    if (!hidden && !named) say("a drawing that is neither hidden nor named", node);
  }
  for (const node of all("table")) if (!node.querySelector("th")) say("a table without headings", node);
  for (const node of all("[tabindex]")) if (node.tabIndex > 0) say("a tab index that jumps", node);
  for (const node of all("[style], [onclick], [onload], [onerror]")) {
    if (!node.closest("svg") && node.getAttribute("style")) say("style in the page", node);
  }

  // Contrast, and words that are whole
  const LONGEST_WORD = 16;
  const parse = (colour) => (colour.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const channel = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const luminance = ([red, green, blue]) => 0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue);
  const over = ([r, g, b, a = 1], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a)];
  const behind = (node) => {
    const layers = [];
    for (let each = node; each; each = each.parentElement) layers.push(parse(getComputedStyle(each).backgroundColor));
    const page = matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
    return layers.reverse().reduce((under, layer) => over(layer, under), page);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(node) || !shows(node) || node.closest("svg, script, style, noscript, option, video")) continue;
    seen.add(node);
    const style = getComputedStyle(node), size = parseFloat(style.fontSize);
    if (node.closest("button:disabled") || style.opacity === "0") continue;
    const back = behind(node), front = over(parse(style.color), back);
    const [light, dark] = [luminance(front), luminance(back)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) say(`contrast ${ratio.toFixed(2)}`, node);

    const words = walker.currentNode.data.trim().split(/[ \t\r\n-]+/), range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const tops = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
    if (tops.size > words.length && words.every((word) => word.length <= LONGEST_WORD)) say("words in pieces", node);
  }

  // Fingers and small screens
  const inText = (node) => node.matches("a") && node.closest("p, li, td, th, dd, dt, caption, summary, label, h1, h2, h3, h4") && !node.matches(".button");
  for (const node of all("button, a[href], input:not([type=hidden]), select, textarea, summary")) {
    if (!shows(node) || inText(node) || node.matches(".skip, [type=checkbox], [type=radio]")) continue;
    const box = node.getBoundingClientRect();
    if (box.height < 43.5) say(`only ${box.height.toFixed(0)} pixels high`, node);
  }
  const wide = document.scrollingElement.scrollWidth - innerWidth;
  if (wide > 1) {
    const culprit = all("body *").filter(shows).find((node) => node.getBoundingClientRect().right > innerWidth + 1 && !node.closest(".scrolls, .tabs, .places"));
    say(`${wide} pixels wider than the screen`, culprit);
  }
  return complaints;
}
"""


async def complaints_about(page: Page) -> list[str]:
    """Everything that is wrong with the page as it stands now."""
    found: list[str] = await page.evaluate(LOOK)
    return found
