// An open ticket stays true: it is asked for again every few seconds, and when the next code is due, and shown anew when
// something about it changed (another code, an entry, a refund). Without a network it keeps the code that it has, and
// says until when that is good.

const SECOND_MS = 1000;
const DUE_EVERY_SECONDS = 5;
let live = document.getElementById("live");
let known = live.outerHTML;
let asking = false;
let askAt = 0;

function countdown(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / SECOND_MS));
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}

function tick() {
  const until = live.querySelector(".until");
  if (!until) return;
  const left = Date.parse(until.dataset.next) - Date.now();
  until.querySelector(".left").textContent = until.dataset.words.replace("{left}", countdown(left));
}

// When to ask again: after a while, or when the next code is due; while that is not there yet, every few seconds.
function plan() {
  const next = Date.parse(live.querySelector(".until")?.dataset.next ?? "");
  const soonest = Date.now() + DUE_EVERY_SECONDS * SECOND_MS;
  const usual = Date.now() + Number(live.dataset.every) * SECOND_MS;
  return next < usual ? Math.max(next, soonest) : usual;
}

function say(reached) {
  const until = live.querySelector(".until");
  if (!until) return;
  const isOver = Date.parse(until.dataset.ends) <= Date.now();
  live.querySelector(".no-network").hidden = reached || isOver;
  live.querySelector(".too-old").hidden = !isOver;
}

function take(text, address) {
  const found = new DOMParser().parseFromString(text, "text/html").getElementById("live");
  if (!found) {
    location.assign(address);  // The session ended, or the code did: that page says so.
    return;
  }
  const html = found.outerHTML;
  if (html === known) return;
  const focused = live.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  known = html;
  live.replaceWith(found);
  live = found;
  if (focused) live.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus();
}

async function ask() {
  if (asking || document.hidden) return;
  asking = true;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (answer.ok) take(await answer.text(), answer.url);
    say(answer.status < 500);
  } catch {
    say(false);
  } finally {
    asking = false;
    askAt = plan();
  }
}

function everySecond() {
  if (Date.now() >= askAt) ask();
  tick();
}

async function stayAwake() {
  try {
    await navigator.wakeLock?.request("screen");
  } catch {
    // The person or the battery decides otherwise.
  }
}

askAt = plan();
tick();
setInterval(everySecond, SECOND_MS);
window.addEventListener("online", ask);
window.addEventListener("offline", () => say(false));
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  ask();
  if ("awake" in live.dataset) stayAwake();
});
if ("awake" in live.dataset) stayAwake();

const fullScreen = document.querySelector("[data-full-screen]");
if (fullScreen && document.documentElement.requestFullscreen) {
  fullScreen.hidden = false;
  fullScreen.addEventListener("click", () => document.documentElement.requestFullscreen().catch(() => {}));
}
