// Keeps the doors where there is no network: their pages as they were seen last, what belongs to them, and the way to
// them. It answers nothing else, and never instead of a network that answers: contracts are asked, or are not reached.

const KEPT = "door";
const PATIENCE_MS = 3000;

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (activated) => activated.waitUntil(self.clients.claim()));

const isDoor = (path) => /^\/org\/[^/]+\/checkin\/[^/]+\/door$/.test(path);
const isStart = (path) => /^\/org\/[^/]+\/checkin\/?$/.test(path);
const later = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

// A network that is gone, that hangs, or whose house is down: what is kept is shown. What comes later still is kept.
async function orKept(asked, answer, kept) {
  if (!kept) return answer;
  asked.waitUntil(answer.catch(() => {}));
  const inTime = answer.then((said) => (said.status >= 500 ? kept() : said), kept);
  return Promise.race([inTime, later(PATIENCE_MS).then(kept)]);
}

async function page(asked, path) {
  const store = await caches.open(KEPT);
  const kept = await store.match(path);
  const answer = fetch(asked.request).then(async (said) => {
    // Only the page itself is worth keeping, and not the way to the sign-in.
    if (said.ok && !said.redirected) await store.put(path, said.clone());
    return said;
  });
  return orKept(asked, answer, kept && (() => kept.clone()));
}

// The doors that are kept: the only one, or which of them.
async function start(asked, path) {
  const store = await caches.open(KEPT);
  const under = `${path.replace(/\/$/, "")}/`;
  const addresses = (await store.keys()).map((each) => new URL(each.url).pathname);
  const doors = addresses.filter((each) => isDoor(each) && each.startsWith(under));
  return orKept(asked, fetch(asked.request), doors.length ? () => wayTo(store, doors, addresses) : null);
}

async function wayTo(store, doors, addresses) {
  if (doors.length === 1) return Response.redirect(doors[0]);
  const pages = await Promise.all(doors.map(async (each) => (await store.match(each)).text()));
  // As the pages call themselves, and in their language.
  const titleOf = (text) => /<title>([^<]*)<\/title>/.exec(text)[1];
  const [opening] = /<html[^>]*>/.exec(pages[0]);
  const styles = addresses.filter((each) => each.endsWith(".css")).map((each) => `<link rel="stylesheet" href="${each}">`);
  const items = doors.map((each, at) => `<li class="card"><a class="button" href="${each}">${titleOf(pages[at])}</a></li>`);
  const text = `<!doctype html>${opening}<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Admit One</title>${styles.join("")}</head><body class="door"><main><h1>Admit One</h1><ul class="cards">${items.join("")}</ul></main></body></html>`;
  return new Response(text, { headers: { "content-type": "text/html; charset=utf-8" } });
}

async function asset(request) {
  return (await (await caches.open(KEPT)).match(request)) || fetch(request);
}

self.addEventListener("fetch", (asked) => {
  const { origin, pathname } = new URL(asked.request.url);
  if (asked.request.method !== "GET" || origin !== location.origin) return;
  if (pathname.startsWith("/assets/")) asked.respondWith(asset(asked.request));
  if (asked.request.mode !== "navigate") return;
  if (isDoor(pathname)) asked.respondWith(page(asked, pathname));
  else if (isStart(pathname)) asked.respondWith(start(asked, pathname));
});
