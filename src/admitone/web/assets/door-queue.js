// Pages about doors that are none themselves: what this device let in without a network is sent from here too, and what
// could not be sent is said.

import { keepsLists } from "./door-keeping.js";

const place = document.querySelector("[data-unsent]");

function say(text) {
  place.textContent = text;
  place.hidden = false;
}

async function send() {
  const { alone, listUnsent, sendAll } = await import("./door-unsent.js");
  if (!(await listUnsent()).length) return;
  await alone(sendAll).catch(() => {});
  const { length: count } = await listUnsent();
  say(count ? place.dataset.unsent.replace("{count}", count) : place.dataset.sent);
}

// What cannot be opened is not known to be empty.
const trySend = () => send().catch(() => say(place.dataset.unknown));

if (keepsLists() && globalThis.indexedDB) {
  trySend();
  addEventListener("online", trySend);
}
