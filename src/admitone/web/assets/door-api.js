// Asking the contracts of the door from the browser: who asks, what was refused, and what is no answer at all.

const PATIENCE_MS = 6000;
const TOO_MANY = 429;

// Nobody knows whether it was done: it is asked for again under the same key, or decided by a list.
export class NoAnswer extends Error {}

export class Refused extends Error {
  constructor(status, envelope) {
    super(envelope.errorCode);
    this.status = status;
    this.envelope = envelope;
  }
}

export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// One for each browser: limits, leases and keys are a device's own.
export const device = (() => {
  const fresh = `door-${newKey().slice(0, 16)}`;
  try {
    const known = localStorage.getItem("device") || fresh;
    localStorage.setItem("device", known);
    return known;
  } catch {
    return fresh;
  }
})();

// Which door, or whose doors, the page is about; some pages are about none.
const { organization, event } = document.querySelector("[data-organization]")?.dataset ?? {};
export { event, organization };
export const base = `/api/org/${organization}/checkin`;

// Where this device stands: which gate, and which session if it is not for all of them.
export function post() {
  const session = document.getElementById("session");
  return { gate: document.getElementById("gate").value.trim(), sessionId: (session && session.value) || null };
}

// `by` and `of`: as which device, and of which organisation, where it is not what the page is about.
async function send(path, { method = "GET", body, type = "application/json", by = device, of = organization, patience = PATIENCE_MS } = {}) {
  const headers = { "x-device-id": by };
  if (of) headers["x-orya-org-id"] = of;
  if (body !== undefined) headers["content-type"] = type;
  const sent = body === undefined || type !== "application/json" ? body : JSON.stringify(body);
  try {
    return await fetch(path, { method, headers, body: sent, signal: AbortSignal.timeout(patience) });
  } catch {
    throw new NoAnswer();
  }
}

let renewing = null;

// A session may have run out while there was no network; all who notice wait for one renewal.
function renew() {
  const once = () => send("/api/auth/refresh", { method: "POST", body: { asCookies: true } });
  // One page at a time, as frame.js does.
  renewing ||= (navigator.locks ? navigator.locks.request("session", once) : once()).finally(() => { renewing = null; });
  return renewing;
}

// The one place that says what is none. The house answers in its own words: a gateway, a hotel's sign-in page and half
// an answer do not. A house that fell over, or says itself that nobody knows yet, has not answered either. That
// somebody asks too often is an answer.
function isNone({ ok, status }, said) {
  if (said === null || status >= 500) return true;
  return !ok && (!said.errorCode || (said.retryable && status !== TOO_MANY));
}

export async function ask(path, asked) {
  let answer = await send(path, asked);
  if (answer.status === 401) {
    // Also when another page was quicker; who is signed out is told so by the second answer.
    if ((await renew()).status >= 500) throw new NoAnswer();
    answer = await send(path, asked);
  }
  if (answer.status === 204) return null;
  const said = await answer.json().catch(() => null);
  if (isNone(answer, said)) throw new NoAnswer();
  if (!answer.ok) throw new Refused(answer.status, said);
  return said;
}
