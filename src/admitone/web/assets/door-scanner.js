// The door: the camera fills the screen, a verdict fills it for a second and a half, then the camera again.

import "./door-live.js";
import { NoAnswer, Refused, ask, base, device, event, newKey, post } from "./door-api.js";
import { Camera, NoCamera } from "./door-camera.js";
import { canKeepLists, keepPage, keepsLists, willKeepLists } from "./door-keeping.js";
import { wake } from "./door-signals.js";
import { hide, inTurn, isBusy, isShown, showAnswer, showOffline, showProblem, showRefused, told } from "./door-verdict.js";
import { door, find, moment, put, say } from "./door-words.js";

const TICK_MS = 15_000;
const KEY_GOOD_MS = 120_000;

// -- Asking

// Under one key for as long as nobody answered: what was let in before the network went is answered so, and not twice.
const unanswered = new Map();

function keyFor(what) {
  const known = unanswered.get(what);
  const key = known && performance.now() - known.at < KEY_GOOD_MS ? known.key : newKey();
  unanswered.set(what, { key, at: performance.now() });
  return key;
}

const gate = () => post().gate;

// At another gate, or for another session, it is another question.
const asHere = (what) => `${what} ${JSON.stringify(post())}`;

// A telephone stays at its gate and at its session.
function rememberPost() {
  for (const field of [find("gate"), find("session")].filter(Boolean)) {
    const name = `${field.id} ${event}`;
    try {
      field.value ||= localStorage.getItem(name) || "";
      field.addEventListener("change", () => localStorage.setItem(name, field.value.trim()));
    } catch { /* It is said again, then. */ }
    field.addEventListener("change", changePost);
  }
  tellSession();
}

function tellSession() {
  const session = find("session");
  if (!session) return;
  // One that is not on any more is none.
  if (session.selectedIndex < 0) session.selectedIndex = 0;
  const { label } = session.selectedOptions[0].dataset;
  find("guarded").textContent = label ? `${label} · ` : "";
}

// A lease and its list are of one post: at another one they are fetched anew.
function changePost() {
  tellSession();
  if (venue) synchronise();
}

// What was refused was not done, and is asked for anew; what nobody answered keeps its key.
async function askDoor(what, path, body) {
  const asked = asHere(what);
  try {
    const answer = await ask(path, { method: "POST", body: { ...body, ...post(), deviceId: device, eventId: event, idempotencyKey: keyFor(asked) } });
    unanswered.delete(asked);
    reached(true);
    return answer;
  } catch (problem) {
    if (problem instanceof Refused) unanswered.delete(asked);
    throw problem;
  }
}

// Whom this device let in by itself the server must know before it is asked about them.
async function tellFirst(what) {
  if (!venue || !await venue.isUnsent(what)) return;
  await synchronise();
  if (await venue.isUnsent(what)) throw new NoAnswer();
}

const present = (code) => inTurn(async () => {
  try {
    await tellFirst({ code });
    const answer = await askDoor(code, "/api/internal/checkin/consume", { qrPayload: code });
    remember(answer);
    showAnswer(answer);
  } catch (problem) {
    if (problem instanceof Refused) showProblem(problem);
    else await withoutAnswer(code);
  }
});

async function withoutAnswer(code) {
  reached(false);
  const asked = asHere(code);
  try {
    const answer = venue ? await venue.decide(code, gate(), keyFor(asked)) : { allow: false, word: "offline-no-list" };
    // From here on it is an entry of this device; whoever shows the code again asks anew.
    if (answer.allow) unanswered.delete(asked);
    if (answer.allow) setLast({ key: answer.key, label: answer.label, at: Date.now() });
    showOffline(answer);
    await tellQueue();
  } catch {
    // What could not be written down was not let in.
    showRefused("try-again");
  }
}

const letIn = (holder) => inTurn(async () => {
  const { entitlementId: entitlement } = holder;
  closePanels();
  try {
    await tellFirst({ entitlement });
    const answer = await askDoor(entitlement, `${base}/entitlements/${entitlement}/consume`, {});
    remember(answer);
    showAnswer(answer);
  } catch (problem) {
    if (problem instanceof Refused) { showProblem(problem); return; }
    reached(false);
    showRefused("needs-network");
  }
});

// -- Taking back

let last = null;

function remember(answer) {
  if (!answer.allow) return;
  setLast({ checkin: answer.checkinId, label: answer.label, at: Date.now() });
  if (venue) venue.note(answer.entitlementId, gate()).catch(() => {});
}

function setLast(entry) {
  last = entry;
  find("undo").disabled = !entry;
  find("last").textContent = entry ? `${entry.label || ""} · ${moment(entry.at)}` : "";
}

function forgetOldEntry() {
  if (last && Date.now() - last.at > Number(door.dataset.undoMinutes) * 60_000) setLast(null);
}

async function takeBack(reasonCode) {
  const said = find("undo-said");
  if (!last.checkin) { said.textContent = say("undo-later"); return; }
  try {
    await ask(`${base}/${last.checkin}/undo`, { method: "POST", body: { reasonCode, idempotencyKey: keyFor(`undo ${last.checkin}`) } });
    setLast(null);
    said.textContent = say("undone");
  } catch (problem) {
    said.textContent = told(problem);
  }
}

// -- With and without a network

let isReached = true;
let venue = null;

const mayHaveKept = () => canKeepLists() && keepsLists();
const standing = () => (venue ? venue.standing() : { state: "none" });
const waiting = async () => (venue ? venue.listUnsent() : []);

// What works without a network is fetched by those only who keep a list.
async function useVenue() {
  const brought = venue || await import("./door-venue.js");
  await brought.load();
  venue = brought;
}

function reached(is) {
  const isBack = is && !isReached;
  isReached = is;
  tellNetwork();
  if (isBack) synchronise();
}

function tellNetwork() {
  const place = find("network");
  const stood = standing();
  const said = isReached
    ? { good: "list-kept", over: "list-over" }[stood.state]
    : { good: "offline", over: "offline-over", none: "offline-no-list" }[stood.state];
  place.hidden = !said;
  place.className = stood.state !== "good" ? "network over" : isReached ? "network" : "network cut";
  // That a list grows older is there to be read; it is said aloud only while it is all there is.
  place.setAttribute("aria-live", isReached ? "off" : "polite");
  put(place, said ? say(said, stood) : "");
  put(find("lease"), stood.state === "good" ? say("list-ready", stood) : say(`list-${stood.state}`));
}

async function tellQueue(refusal = null) {
  const { length: count } = await waiting();
  // What cannot be opened is not known to be empty.
  const none = mayHaveKept() && !venue ? "kept-unknown" : "all-sent";
  const said = count ? say("waiting", { count }) : say(none);
  put(find("queue"), refusal ? `${said} ${told(refusal)}` : said);
}

async function synchronise(contact = venue && venue.sync) {
  let refusal = null;
  try {
    if (contact) refusal = tellSent(await contact());
    await ask(`${base}/events/${event}/scanner`);
    isReached = true;
  } catch (problem) {
    if (problem instanceof NoAnswer) isReached = false;
    else if (problem instanceof Refused) refusal = problem;
    else throw problem;
  }
  tellNetwork();
  await tellQueue(refusal);
}

function tellSent({ recorded, refusal }) {
  if (!recorded.length) return refusal;
  const wrong = recorded.filter((each) => each.incident);
  const own = last && recorded.find((each) => each.key === last.key);
  if (own) setLast({ ...last, checkin: own.checkinId });
  const sent = document.createElement("li");
  sent.textContent = say("sent", { count: recorded.length, incidents: wrong.length });
  find("incidents").append(...wrong.map(incidentLine), sent);
  find("network").dataset.sent = String(recorded.length);
  if (wrong.length) openPanel(find("without-network"));
  return refusal;
}

function incidentLine(each) {
  const line = document.createElement("li");
  line.textContent = say("incident-at", { when: moment(each.at), label: each.label, what: say(`incident-${each.incident}`) });
  return line;
}

async function takeLease(submitted) {
  submitted.preventDefault();
  try {
    await useVenue();
    willKeepLists();
    const given = await venue.lease(Number(find("entries").value));
    find("exposure").textContent = say("exposure", { count: given.exposure.atMostTwice });
    await keepPage(door.dataset);
    if (navigator.storage && navigator.storage.persist) navigator.storage.persist().catch(() => {});
  } catch (problem) {
    find("exposure").textContent = problem instanceof NoAnswer || problem instanceof Refused ? told(problem) : say("try-again");
  }
  tellNetwork();
}

async function tellExposure() {
  try {
    const { exposure } = await ask(`${base}/events/${event}/leases`);
    find("exposure").textContent = say("exposure", { count: exposure.atMostTwice });
  } catch (problem) {
    find("exposure").textContent = told(problem);
  }
}

// -- Panels

const panels = Array.from(document.querySelectorAll(".panel"));
const openers = Array.from(document.querySelectorAll("[aria-controls]"));

function closePanels() {
  panels.forEach((each) => each.classList.remove("open"));
  openers.forEach((each) => each.setAttribute("aria-expanded", "false"));
}

function openPanel(panel) {
  closePanels();
  panel.hidden = false;
  panel.classList.add("open");
  openers.filter((each) => each.getAttribute("aria-controls") === panel.id).forEach((each) => each.setAttribute("aria-expanded", "true"));
  const first = panel.querySelector("input:not([type=hidden]), button");
  if (first) first.focus();
}

function toggle(opener) {
  const panel = find(opener.getAttribute("aria-controls"));
  if (panel.classList.contains("open")) { closePanels(); return; }
  find("undo-said").textContent = "";
  if (panel.id === "without-network") { tellExposure(); tellQueue(); }
  if (panel.id === "by-name") bringPeople();
  openPanel(panel);
}

function escape({ key }) {
  if (key !== "Escape") return;
  if (isShown()) hide();
  else closePanels();
}

// Who searches by name is fetched when the panel opens; whoever is quicker than the network waits for it here.
const bringPeople = () => import("./door-people.js").catch(() => null);

async function searchPeople(submitted) {
  submitted.preventDefault();
  const people = await bringPeople();
  if (people) await people.search(submitted.target, find("found"), say, letIn, told);
  else find("found").textContent = say("needs-network");
}

function codeOf(typed) {
  const bare = typed.replace(/\s+/g, "").toUpperCase();
  return /^[A-Z2-7]{32}$/.test(bare) ? `A1:${bare}` : bare;
}

function tryCode(submitted) {
  submitted.preventDefault();
  const typed = find("code");
  closePanels();
  present(codeOf(typed.value));
  typed.value = "";
}

// -- The camera

function tellCamera(problem) {
  if (problem instanceof NoAnswer) reached(false);
  const words = new Map([[NoCamera, "no-camera"], [NoAnswer, "no-reading-offline"]]);
  const word = problem ? words.get(problem.constructor) : "searching";
  put(find("note"), word ? say(word) : told(problem));
}

async function watch() {
  put(find("note"), say("allow-camera"));
  await new Camera(find("video")).watch({ isBusy, saw: present, trouble: tellCamera });
}

async function stayAwake() {
  try { await navigator.wakeLock.request("screen"); } catch { /* A telephone that saves power decides for itself. */ }
}

async function tick() {
  forgetOldEntry();
  tellNetwork();
  if (mayHaveKept() && !venue) await useVenue().catch(() => {});
  const waits = (await waiting()).length > 0;
  if (!isReached || (venue && venue.isDue())) await synchronise();
  else if (waits) await synchronise(venue.send);
}

async function begin() {
  document.body.classList.add("lively");
  document.querySelector(".thumb").hidden = false;
  panels.forEach((each) => { each.hidden = false; });
  openers.forEach((each) => each.addEventListener("click", () => toggle(each)));
  addEventListener("keydown", escape);
  addEventListener("pointerdown", wake);
  addEventListener("keydown", wake);
  rememberPost();
  find("by-code").querySelector("form").addEventListener("submit", tryCode);
  find("by-name").querySelector("form").addEventListener("submit", searchPeople);
  find("leasing").addEventListener("submit", takeLease);
  find("taking-back").addEventListener("click", (pressed) => { if (pressed.target.dataset.reason && last) takeBack(pressed.target.dataset.reason); });
  addEventListener("online", () => synchronise());
  addEventListener("offline", () => reached(false));
  document.addEventListener("visibilitychange", () => { if (!document.hidden) stayAwake(); });
  stayAwake();
  // Where what is kept cannot be opened, nobody comes in by it; with a network the door works.
  if (mayHaveKept()) await useVenue().catch(() => {});
  tellNetwork();
  // Not before it is known whether the line of a list stands above it: nothing moves.
  document.querySelector(".stage").hidden = false;
  document.querySelector("[aria-controls=without-network]").hidden = !canKeepLists();
  if (standing().state !== "none") keepPage(door.dataset).catch(() => {});
  await tellQueue();
  reached(navigator.onLine);
  await tick();
  setInterval(tick, TICK_MS);
  door.dataset.ready = "yes";
  await watch();
}

begin();
