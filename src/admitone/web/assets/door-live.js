// Counts as they change. The stream ends after a minute by itself and the browser comes again. Where it does not, because
// it was turned away, it is opened anew; and while nothing comes the page says from when its counts are.

import { Refused, ask } from "./door-api.js";

const SILENT_MS = 8000;
const AGAIN_MS = 5000;
const AFTER_REFUSAL_MS = 30_000;

const { lang } = document.documentElement;
const shown = new Intl.NumberFormat(lang);
const clock = new Intl.DateTimeFormat(lang, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

const place = document.querySelector("[data-live]");
const old = document.querySelector("[data-counts-of]");
let heardAt = new Date();
let silence = null;

function put(where, counted) {
  for (const cell of where.querySelectorAll("[data-count]")) {
    const value = counted[cell.dataset.count];
    if (value !== undefined) cell.textContent = shown.format(value);
  }
}

function tell(counts) {
  clearTimeout(silence);
  silence = null;
  heardAt = new Date();
  old.hidden = true;
  document.querySelectorAll("[data-live]").forEach((where) => put(where, counts));
  for (const [name, rows] of [["session", counts.sessions], ["gate", counts.gates]]) {
    const key = name === "session" ? "sessionId" : "gate";
    for (const row of document.querySelectorAll(`tr[data-${name}]`)) {
      const counted = rows.find((each) => (each[key] || "") === row.dataset[name]);
      if (counted) put(row, counted);
    }
  }
}

function tellOld() {
  old.textContent = old.dataset.countsOf.replace("{when}", clock.format(heardAt));
  old.hidden = false;
}

function follow() {
  const stream = new EventSource(place.dataset.live);
  stream.addEventListener("counts", (said) => tell(JSON.parse(said.data)));
  stream.addEventListener("error", () => {
    silence ||= setTimeout(tellOld, SILENT_MS);
    if (stream.readyState === EventSource.CLOSED) setTimeout(followAgain, AGAIN_MS);
  });
  addEventListener("pagehide", () => stream.close());
}

// By a question of ours, which renews the session where that is what is missing.
async function followAgain() {
  try {
    tell(await ask(place.dataset.live.replace(/live$/, "counts")));
    follow();
  } catch (problem) {
    // Whoever may not is told so again and again otherwise.
    setTimeout(followAgain, problem instanceof Refused ? AFTER_REFUSAL_MS : AGAIN_MS);
  }
}

if (place && globalThis.EventSource) follow();
