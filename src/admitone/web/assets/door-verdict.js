// The verdict fills the screen for a second and a half; what is no verdict about a ticket stays until somebody has read
// it. One person at a time: whoever comes while it stands is next, and nobody is forgotten.

import { NoAnswer, device } from "./door-api.js";
import { signal } from "./door-signals.js";
import { door, find, moment, say } from "./door-words.js";

const SHOWN_MS = 1500;

const verdict = find("verdict");
const next = [];
let busy = false;
let hiding = null;
let before = null;

export const isBusy = () => busy;
export const isShown = () => !verdict.hidden;

// `work` ends with something shown.
export function inTurn(work) {
  if (busy) { next.push(work); return; }
  busy = true;
  work();
}

export function show(kind, word, { label = "", detail = "", stays = false, confirm = false } = {}) {
  clearTimeout(hiding);
  verdict.className = `verdict ${kind}${stays ? " stays" : ""}`;
  verdict.querySelector(".word").textContent = word;
  verdict.querySelector(".label").textContent = label;
  verdict.querySelector(".detail").textContent = detail;
  const wayOut = verdict.querySelector(".way-out");
  wayOut.hidden = !confirm;
  if (confirm) wayOut.querySelector("a").href = confirm;
  verdict.querySelector(".on").hidden = !stays;
  verdict.hidden = false;
  signal(kind === "waiting" ? "bad" : kind);
  if (stays) takeFocus();
  else hiding = setTimeout(hide, SHOWN_MS);
}

// Whoever has no finger on the screen goes on with a key.
function takeFocus() {
  before = document.activeElement;
  verdict.querySelector(".on button").focus();
}

export function hide() {
  clearTimeout(hiding);
  verdict.hidden = true;
  if (before) before.focus();
  before = null;
  busy = false;
  if (next.length) inTurn(next.shift());
}

verdict.addEventListener("click", hide);

function usedWhen({ at, gate }) {
  return say(gate ? "used-at-gate" : "used-at", { when: moment(at), gate });
}

export function showAnswer(answer) {
  const again = answer.duplicate;
  if (answer.allow) show("good", say("admitted"), { label: answer.label || "", detail: answer.entry > 1 ? say("entry", { number: answer.entry }) : "" });
  else if (again) show("twice", say("duplicate"), { label: answer.label || "", detail: usedWhen({ at: again.duplicateOfConsumedAt, gate: again.gate }) });
  else show("bad", say("refused"), { label: answer.label || "", detail: say(answer.reasonCode) });
}

export function showOffline(answer) {
  const again = answer.duplicate;
  if (answer.allow) show("good", say("admitted"), { label: answer.label });
  else if (again) show("twice", say("duplicate"), { label: answer.label, detail: again.at ? usedWhen(again) : say(answer.word) });
  else showRefused(answer.word, answer.label);
}

export const showRefused = (word, label = "") => show("bad", say("refused"), { label, detail: say(word) });

// What the edge refuses is no verdict about a ticket.
export function told(problem) {
  if (problem instanceof NoAnswer) return say("needs-network");
  const known = { STEP_UP_REQUIRED: "confirm-first", SCANNER_CLOSED: "closed", RATE_LIMITED: "wait" };
  if (problem.status === 401) return say("sign-in-first");
  if (known[problem.message]) return say(known[problem.message]);
  if (problem.status === 403) return say("may-not");
  return problem.envelope.message || say("try-again");
}

export function showProblem(problem) {
  const ways = {
    STEP_UP_REQUIRED: `${door.dataset.path}/confirm?device=${encodeURIComponent(device)}`,
    SCANNER_CLOSED: `${door.dataset.path}/open?device=${encodeURIComponent(device)}`,
    UNAUTHENTICATED: `/sign-in?next=${encodeURIComponent(location.pathname)}`,
  };
  const confirm = problem.status === 401 ? ways.UNAUTHENTICATED : ways[problem.message] || false;
  const passes = problem.message === "RATE_LIMITED";
  show("waiting", say("refused"), { detail: told(problem), stays: !passes, confirm });
}
