// Whoever signs out leaves no door open on this device: its leases end, lists and pages go. What it let in and could not
// send stays, for whoever signs in next to send it; whoever leaves it so is told first.

import { ask } from "./door-api.js";
import { forgetPages, keepsLists } from "./door-keeping.js";

async function mayLeave(warning) {
  const { alone, listUnsent, sendAll } = await import("./door-unsent.js");
  await alone(sendAll).catch(() => {});
  const { length: count } = await listUnsent();
  return !count || confirm(warning.replace("{count}", count));
}

async function closeDoors() {
  const { forgetLists, listLeases } = await import("./door-store.js");
  const leases = await listLeases();
  await forgetLists();
  await forgetPages();
  for (const { organization: of, lease } of leases.filter((each) => each.organization)) {
    const path = `/api/org/${of}/checkin/leases/${lease.leaseId}/revoke`;
    // Where nobody answers, it ends by itself within half an hour; the list is gone in any case.
    await ask(path, { method: "POST", body: { reasonCode: "SIGNED_OUT" }, of }).catch(() => {});
  }
}

async function leave(submitted) {
  const form = submitted.target;
  submitted.preventDefault();
  if (!await mayLeave(form.closest("[data-unsent]").dataset.unsent).catch(() => true)) return;
  await closeDoors().catch(forgetPages);
  form.submit();
}

if (keepsLists() && globalThis.indexedDB) {
  document.querySelectorAll("[data-unsent] form").forEach((form) => form.addEventListener("submit", leave));
}
