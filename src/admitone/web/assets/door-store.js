// What a device keeps where there is no network, and no names: its leases, their lists, and who came in on it.
//
// Promise: all pages of a browser share it, and none keeps a memory of its own that counts. An entry stays until the
// server has it and a list that was made after it is here. What is decided by it is read and written in one
// transaction, so that two pages decide one after the other.

const VERSION = 2;
const PATIENCE_MS = 3000;

let opened = null;
let hindered = null;

// A page from before a change of ours may hold the store: then nothing is kept or decided until that one is closed.
function open() {
  if (!opened) {
    const asked = indexedDB.open("door", VERSION);
    asked.onupgradeneeded = ({ oldVersion }) => build(asked.result, asked.transaction, oldVersion);
    opened = new Promise((resolve, reject) => {
      asked.onsuccess = () => resolve(asked.result);
      asked.onerror = () => reject(asked.error);
    });
    hindered = new Promise((_, reject) => {
      asked.onblocked = () => reject(new Error("another page holds an older store"));
      // Whoever waits behind another that is held up is not told.
      setTimeout(() => reject(new Error("the store does not open")), PATIENCE_MS);
    });
    hindered.catch(() => {});
    opened.then((store) => { store.onversionchange = () => { store.close(); opened = null; }; }, () => { opened = null; });
  }
  return Promise.race([opened, hindered]);
}

function build(store, transaction, from) {
  if (!from) store.createObjectStore("lists", { keyPath: "event" });
  if (!from) store.createObjectStore("entries", { keyPath: "key" });
  store.createObjectStore("leases", { keyPath: "event" });
  const entries = transaction.objectStore("entries");
  entries.createIndex("right", ["event", "entitlement"]);
  entries.createIndex("unsent", "unsent");
  if (from) carryOver(transaction, entries);
}

// In the first version a list had its lease inside, and every entry was unsent. The list is fetched anew, and nobody
// comes in by it before that.
function carryOver(transaction, entries) {
  entries.deleteIndex("event");
  const lists = transaction.objectStore("lists");
  lists.getAll().onsuccess = ({ target: { result: old } }) => {
    const shown = new Map(old.flatMap((each) => [...each.digests]));
    old.forEach(({ event, lease, offset, latest, admitted }) => {
      transaction.objectStore("leases").put({ event, lease, offset, latest, admitted, listedAt: 0 });
    });
    lists.clear();
    entries.openCursor().onsuccess = ({ target: { result: cursor } }) => {
      if (!cursor) return;
      cursor.update({ ...cursor.value, entitlement: shown.get(cursor.value.digest), unsent: 1 });
      cursor.continue();
    };
  };
}

// `work` gets the stores, and a function that takes the result; that counts once everything is written.
async function within(names, mode, work) {
  const transaction = (await open()).transaction(names, mode, { durability: "strict" });
  let result;
  work(names.map((name) => transaction.objectStore(name)), (value) => { result = value; });
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(result);
    transaction.onabort = () => reject(transaction.error || new Error("not written"));
  });
}

const answerOf = (asked, told) => { asked.onsuccess = () => told(asked.result); };

// -- Leases and lists

export const listLeases = () => within(["leases"], "readonly", ([leases], done) => answerOf(leases.getAll(), done));

export const findLease = (event) => within(["leases"], "readonly", ([leases], done) => answerOf(leases.get(event), done));

export const findList = (event) => within(["lists"], "readonly", ([lists], done) => answerOf(lists.get(event), done));

// As `changed` makes it of what it is now; none stays none, unless something is made of it.
export const changeLease = (event, changed) => within(["leases"], "readwrite", ([leases], done) => {
  answerOf(leases.get(event), (before) => {
    const after = changed(before);
    if (after) leases.put(after);
    done(after);
  });
});

const ofEvent = (event) => IDBKeyRange.bound([event], [event, []]);

// What came in before a list was asked for, and was sent, stands in it.
export const keepList = (list) => within(["leases", "lists", "entries"], "readwrite", ([leases, lists, entries], done) => {
  answerOf(leases.get(list.event), (before) => {
    // Somebody signed out meanwhile.
    if (!before) return;
    const lease = { ...before, listedAt: list.listedAt };
    leases.put(lease);
    lists.put(list);
    answerOf(entries.index("right").getAll(ofEvent(list.event)), (own) => {
      own.filter((each) => !each.unsent && Date.parse(each.at) < list.listedAt).forEach((each) => entries.delete(each.key));
    });
    done(lease);
  });
});

export const forgetLists = () => within(["leases", "lists"], "readwrite", ([leases, lists]) => {
  leases.clear();
  lists.clear();
});

// -- Who came in

// One decision: `decided` says by the lease, and by what this device knows of the right, what is told and written.
export const decideBy = (event, entitlement, decided) => within(["leases", "entries"], "readwrite", ([leases, entries], done) => {
  answerOf(leases.get(event), (before) => answerOf(entries.index("right").getAll([event, entitlement]), (uses) => {
    const { told, lease, entry } = decided(before, uses);
    if (lease) leases.put(lease);
    // Never instead of another: what has its key already is not let in.
    if (entry) entries.add(entry);
    done(told);
  }));
});

export const noteEntry = (entry) => within(["entries"], "readwrite", ([entries]) => { entries.put(entry); });

export const listUnsent = () => within(["entries"], "readonly", ([entries], done) => answerOf(entries.index("unsent").getAll(), done));

// The server has them, and says how their lease stands.
export const keepSent = (lease, keys) => within(["leases", "entries"], "readwrite", ([leases, entries]) => {
  answerOf(leases.get(lease.eventId), (own) => { if (own && own.lease.leaseId === lease.leaseId) leases.put({ ...own, lease }); });
  keys.forEach((key) => answerOf(entries.get(key), (own) => {
    if (own) delete own.unsent;
    if (own) entries.put(own);
  }));
});
