// The door without a network: a lease and its list, what is decided by it, and staying in touch.
//
// Promise: what is not surely allowed stays out. A lease that ran out, a clock that was put back, a list that is not
// there: nobody comes in by them. Whoever was let in is written down before the steward is told, and is kept until the
// server says that it has it.

import { NoAnswer, Refused, ask, base, device, event, newKey, organization, post } from "./door-api.js";
import { changeLease, decideBy, findLease, findList, keepList, keepSent, noteEntry } from "./door-store.js";
import { alone, listUnsent, sendAll } from "./door-unsent.js";

export { listUnsent };

const MINUTE = 60_000;
const CONTACT_MS = 5 * MINUTE;
// However much in touch: what went back since is not on an old list.
const LIST_MS = 30 * MINUTE;
// Nobody waits in front of the door for a page of the list.
const PAGE_MS = 30_000;
const RENEW_BEFORE_MS = 20 * MINUTE;
const ENDS = [403, 404, 409, 410];
// A clock may be set a little by the telephone company; more is somebody who turns it.
const CLOCK_SLACK_MS = MINUTE;
const NO_LIST = { listedAt: 0, rights: new Map(), digests: new Map() };

// As they were read last. What counts stands in the store: another page of this browser may have changed it.
let kept = null;
let list = NO_LIST;

// Where the time stood, and how long the page has been open since: it goes on whatever is done to the clock.
let anchor = { at: 0, since: 0 };

export async function load() {
  stand(await findLease(event));
  // A long list takes a while to be read: only when it is another.
  if (kept && kept.listedAt !== list.listedAt) list = (await findList(event)) || NO_LIST;
}

function stand(lease) {
  const isAnother = !kept || !lease || kept.lease.leaseId !== lease.lease.leaseId;
  kept = lease || null;
  if (isAnother) anchor = { at: 0, since: 0 };
  if (kept) anchor = { at: Math.max(kept.latest, now()), since: performance.now() };
}

const time = (text) => new Date(text).getTime();
// By the server's clock, as far as this device knew it when it got the lease.
const byClock = () => Date.now() + kept.offset;
const now = () => Math.max(byClock(), anchor.at + performance.now() - anchor.since);
const isPutBack = () => byClock() < kept.latest - CLOCK_SLACK_MS;
const goodUntil = () => Math.min(time(kept.lease.offlineUntil), time(kept.lease.expiresAt), kept.listedAt + LIST_MS);

async function digestOf(code) {
  const bytes = new TextEncoder().encode(code.trim().toUpperCase());
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).slice(0, 16);
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Taken back, or refused to this device: it is over for good, until somebody asks for another.
const isEnded = () => Boolean(kept.lease.revokedAt || kept.isRefused);

// How the lease stands: none, over, or good for so many minutes.
export function standing() {
  if (!kept) return { state: "none" };
  const left = goodUntil() - now();
  const age = Math.max(0, Math.round((now() - kept.listedAt) / MINUTE));
  const state = left <= 0 || isEnded() || isPutBack() ? "over" : "good";
  return { state, age, left: Math.max(0, Math.floor(left / MINUTE)), rights: list.rights.size };
}

// -- The lease and its list

export const lease = (entriesAllowed) => alone(() => leaseAnew(entriesAllowed));

async function leaseAnew(entriesAllowed) {
  const given = await ask(`${base}/events/${event}/leases`, {
    method: "POST", body: { ...post(), entriesAllowed, idempotencyKey: newKey() },
  });
  const latest = time(given.lease.issuedAt);
  const offset = latest - Date.now();
  // The list from before stays, as old as it is, until the new one is here.
  stand(await changeLease(event, (before) => ({
    event, organization, lease: given.lease, offset, latest, listedAt: before ? before.listedAt : 0, admitted: 0,
  })));
  await fetchCodes();
  return given;
}

async function fetchCodes() {
  const fresh = { event, listedAt: now(), rights: new Map(), digests: new Map() };
  let after = null;
  do {
    const query = after ? `?after=${encodeURIComponent(after)}` : "";
    const page = await ask(`${base}/leases/${kept.lease.leaseId}/codes${query}`, { patience: PAGE_MS });
    for (const { digests: own, ...right } of page.rights) {
      fresh.rights.set(right.entitlementId, right);
      own.forEach((digest) => fresh.digests.set(digest, right.entitlementId));
    }
    after = page.after;
  } while (after);
  stand(await keepList(fresh));
  list = fresh;
}

// Somebody came in with the network: the list of this device knows it, should the network go now.
export async function note(entitlement, gate) {
  if (!kept || !list.rights.has(entitlement)) return;
  await noteEntry({ key: newKey(), event, entitlement, gate, at: new Date(now()).toISOString() });
}

// -- Deciding

const refused = (word) => ({ allow: false, word });
const latestOf = (uses) => uses.reduce((last, each) => (!last || each.at > last.at ? each : last), null);

function whyNot(right, uses, at) {
  const used = latestOf(uses);
  const { sessionId } = post();
  if (sessionId && right.sessionId && right.sessionId !== sessionId) return refused("WRONG_SESSION");
  if (at < time(right.validFrom)) return refused("NOT_YET_VALID");
  if (at > time(right.validUntil)) return refused("NO_LONGER_VALID");
  const last = used || (right.lastEntryAt && { at: right.lastEntryAt, gate: right.lastGate });
  if (right.entriesLeft - uses.length <= 0) return { allow: false, word: "ALREADY_CONSUMED", duplicate: last || {} };
  const isLate = last && at > time(last.at) + right.reentryMinutes * MINUTE;
  return isLate ? { allow: false, word: "REENTRY_WINDOW_PASSED", duplicate: last } : null;
}

function whyClosed() {
  const { state } = standing();
  if (isPutBack()) return refused("clock-back");
  if (state === "over") return refused("offline-over");
  return kept.admitted >= kept.lease.entriesAllowed ? refused("entries-used-up") : null;
}

// By the list, under the key by which it was asked for: should the server have let in under it, that was this entry.
export async function decide(code, gate, key) {
  const digest = await digestOf(code);
  for (;;) {
    const right = list.rights.get(list.digests.get(digest));
    const told = await decideBy(event, right ? right.entitlementId : "", (lease, uses) => rule(lease, uses, { right, digest, gate, key }));
    if (told) return told;
    // Another page of this browser brought a new list.
    await load();
  }
}

function rule(lease, uses, { right, digest, gate, key }) {
  if (lease && lease.listedAt !== list.listedAt) return { told: null };
  kept = lease || null;
  if (!kept) return { told: refused("offline-no-list") };
  const at = now();
  const no = whyClosed() || (right ? whyNot(right, uses, at) : refused("not-on-list"));
  // How late it was: whoever puts the clock back after this is noticed, also when the page was opened anew.
  kept = { ...kept, latest: Math.max(kept.latest, at), admitted: kept.admitted + (no ? 0 : 1) };
  if (no) return { told: { ...no, label: right && right.label }, lease: kept };
  const { entitlementId: entitlement, label } = right;
  const entry = { key, event, organization, device, lease: kept.lease.leaseId, digest, entitlement, gate, label, at: new Date(at).toISOString(), unsent: 1 };
  return { told: { allow: true, label, key }, lease: kept, entry };
}

// Whether this device let somebody in on it and the server does not know yet.
export async function isUnsent({ code, entitlement }) {
  const waiting = await listUnsent();
  const digest = waiting.length && code ? await digestOf(code) : null;
  const own = digest && list.digests.get(digest);
  return waiting.some((each) => each.digest === digest || (each.entitlement && [own, entitlement].includes(each.entitlement)));
}

// -- Back again

export const send = () => alone(sendAll);

let syncing = null;

// Sends what waits and keeps the lease alive; several who ask at once wait for the same.
export function sync() {
  syncing ||= alone(syncAlone).finally(() => { syncing = null; });
  return syncing;
}

async function syncAlone() {
  const sent = await sendAll();
  await load();
  if (kept && !isEnded()) await stayInTouch();
  return sent;
}

async function stayInTouch() {
  const isOver = standing().state === "over";
  try {
    // Being in touch makes up for nothing: a list that was over is fetched anew.
    // So is that of another session, or gate, than the device stands at by now.
    const { gate, sessionId } = post();
    const isElsewhere = kept.lease.gate !== gate || (kept.lease.sessionId || null) !== sessionId;
    const isEnding = time(kept.lease.expiresAt) - now() < RENEW_BEFORE_MS;
    if (isOver || isElsewhere || isEnding) { await leaseAnew(kept.lease.entriesAllowed); return; }
    const said = await ask(`${base}/leases/${kept.lease.leaseId}/sync`, { method: "POST", body: { letIn: [] } });
    await keepSent(said.lease, []);
    await load();
    await fetchCodes();
  } catch (problem) {
    // The list stays as it is, and grows old in words; only that it is not for this device any more ends it.
    if (problem instanceof Refused) await end(ENDS.includes(problem.status));
    else if (!(problem instanceof NoAnswer)) throw problem;
  }
}

async function end(isRefused) {
  stand(await changeLease(event, (before) => before && { ...before, isRefused, latest: Math.max(before.latest, now()) }));
}

export function isDue() {
  return Boolean(kept) && !isEnded() && now() - kept.listedAt > CONTACT_MS;
}
