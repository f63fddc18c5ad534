// What this device let in by itself and the server does not know yet, of all of its doors: kept until it is sent, and
// sent from wherever somebody looks at doors.

import { Refused, ask, device, organization } from "./door-api.js";
import { keepSent, listUnsent } from "./door-store.js";

const MOST_AT_ONCE = 500;

export { listUnsent };

// One page of a browser at a time is in touch: nothing is sent while another reads what was sent.
export const alone = (work) => (navigator.locks ? navigator.locks.request("door", work) : work());

// What is refused stays, and keeps nothing else from being sent. Gives what was recorded, and the last refusal.
export async function sendAll() {
  const recorded = [];
  let refusal = null;
  for (const some of batches(await listUnsent())) {
    try {
      recorded.push(...await sendSome(some));
    } catch (problem) {
      if (!(problem instanceof Refused)) throw problem;
      refusal = problem;
    }
  }
  return { recorded, refusal };
}

// Of one lease each, and not too many.
function batches(entries) {
  const some = [];
  for (const each of entries) {
    const open = some.find(([first, ...more]) => first.lease === each.lease && more.length + 1 < MOST_AT_ONCE);
    if (open) open.push(each);
    else some.push([each]);
  }
  return some;
}

async function sendSome(some) {
  // What was kept before devices wrote it down is of the house that is looked at.
  const { lease, organization: of = organization, device: by = device } = some[0];
  const letIn = some.map(({ key, digest, at }) => ({ key, digest, at }));
  const said = await ask(`/api/org/${of}/checkin/leases/${lease}/sync`, { method: "POST", body: { letIn }, of, by });
  await keepSent(said.lease, said.recorded.map((each) => each.key));
  const labels = new Map(some.map((each) => [each.key, each]));
  return said.recorded.map((each) => ({ ...labels.get(each.key), ...each }));
}
