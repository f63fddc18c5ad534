// What every page does when it can: it renews the session before it runs out, so that nobody loses what they typed.
// Sessions last fifteen minutes. How old one is, all pages of a browser know together: each page starts anew, and a
// timer of its own would begin again with every page that is opened.

const MARK = "renewed-at";
const ON_ARRIVAL_MS = 5 * 60 * 1000;
const MEANWHILE_MS = 10 * 60 * 1000;
const LOOK_EVERY_MS = 30 * 1000;
const WAIT_MS = 4 * 1000;

// A browser that keeps nothing for us renews more often than it must.
const kept = {
  read() { try { return Number(localStorage.getItem(MARK)) || 0; } catch { return 0; } },
  write(at) { try { localStorage.setItem(MARK, String(at)); } catch { /* Nothing to do. */ } },
};
const age = () => Math.abs(Date.now() - kept.read());

let underWay = null;

// It outlives the page: an answer that nobody waits for would leave this browser with a token that is spent.
async function ask(address) {
  const before = kept.read();
  kept.write(Date.now());
  const answer = await fetch(address, {
    method: "POST",
    keepalive: true,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ asCookies: true }),
  }).catch(() => null);
  if (!answer || !answer.ok) kept.write(before);
}

// One tab at a time: a refresh token is worth one rotation. Whoever waited for another finds that it is done.
function renew(address, olderThan) {
  const once = () => (age() >= olderThan ? ask(address) : null);
  underWay ??= Promise.resolve(navigator.locks ? navigator.locks.request("session", once) : once())
    .finally(() => { underWay = null; });
  return underWay;
}

const address = document.body.dataset.renew;
// Whoever is not signed in on this page signs in later: a session that begins then is younger than this.
if (!address) kept.write(Date.now());
if (address) {
  const look = () => { if (!document.hidden && age() >= MEANWHILE_MS) renew(address, MEANWHILE_MS); };
  if (age() >= ON_ARRIVAL_MS) renew(address, ON_ARRIVAL_MS);
  setInterval(look, LOOK_EVERY_MS);
  // A page that slept with its tab or its machine missed its ticks.
  document.addEventListener("visibilitychange", look);

  // A form waits for a session that is about to run out, and for one that is being renewed; once, whatever comes of it.
  const waited = new WeakSet();
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.getAttribute("method") !== "post" || waited.has(form) || (!underWay && age() < MEANWHILE_MS)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    waited.add(form);
    const { submitter } = event;
    const patience = new Promise((done) => { setTimeout(done, WAIT_MS); });
    Promise.race([renew(address, MEANWHILE_MS), patience]).finally(() => {
      form.requestSubmit(submitter);
      waited.delete(form);
    });
  }, { capture: true });
}
