// What a browser keeps of a door besides its list: that it keeps lists at all, and the page, so that it opens where
// there is no network.

const CACHE = "door";

// Two pages of one browser are in touch one after the other; where they cannot be, there are no lists.
export const canKeepLists = () => Boolean(globalThis.indexedDB && globalThis.crypto && crypto.subtle && navigator.locks);

export function keepsLists() {
  try { return localStorage.getItem("lists") === "kept"; } catch { return true; }
}

export function willKeepLists() {
  try { localStorage.setItem("lists", "kept"); } catch { /* It is looked for each time, then. */ }
}

// The page, and not the way to the sign-in.
const pageAt = (path) => new Request(path, { redirect: "error" });

export async function keepPage({ worker, kept: assets }) {
  if (!navigator.serviceWorker || !globalThis.caches) return;
  await register(worker);
  const kept = await caches.open(CACHE);
  const wanted = assets.split(" ");
  await kept.addAll([pageAt(location.pathname), ...wanted]);
  const others = (await kept.keys()).map((each) => new URL(each.url).pathname).filter((each) => !wanted.includes(each));
  const old = others.filter((each) => each.startsWith("/assets/"));
  if (!old.length) return;
  // Pages of other doors come anew with what belongs to them; as long as one does not, both stay as they are.
  const pages = others.filter((each) => !old.includes(each) && each !== location.pathname);
  await kept.addAll(pages.map(pageAt));
  for (const each of old) await kept.delete(each);
}

// For all doors of a house and the way to them. It once was registered for what lies below that alone.
async function register(worker) {
  const scope = worker.slice(0, worker.lastIndexOf("/"));
  for (const each of await navigator.serviceWorker.getRegistrations()) {
    if (each.scope.endsWith(`${scope}/`)) await each.unregister();
  }
  await navigator.serviceWorker.register(worker, { scope });
}

export const forgetPages = () => (globalThis.caches ? caches.delete(CACHE) : Promise.resolve());
