// An order's page, livelier: the time that is left, a status that updates, one payment for a double click, and copying.

const EVERY_MS = 2500;
const section = document.querySelector("[data-mark]");

// The time that is left, by our clock and not by the device's. When it is over, the page has something else to say.
for (const line of document.querySelectorAll("[data-left]")) {
  const until = performance.now() + Number(line.dataset.left) * 1000;
  const clock = line.querySelector("[data-clock]");
  const tick = () => {
    const left = Math.max(Math.ceil((until - performance.now()) / 1000), 0);
    clock.textContent = left ? `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}` : line.dataset.ended;
    if (left) return;
    clearInterval(timer);
    setTimeout(() => location.reload(), 1500);
  };
  const timer = setInterval(tick, 1000);
  tick();
}

// Whether there is something else to say. Whoever looks elsewhere is not asked for; whoever comes back is, at once. While
// nobody can be asked, that is said: a page that claims to change by itself must not stand still in silence.
const watch = section?.dataset.watch;
if (watch) {
  const silent = document.querySelector("[data-silent]");
  const ask = async () => {
    const answer = await fetch(watch, { headers: { accept: "application/json" } });
    return { status: answer.status, mark: answer.ok && (await answer.json()).mark };
  };
  let patience = EVERY_MS;
  let timer;
  const look = async () => {
    clearTimeout(timer);
    if (document.hidden) return;
    const told = await ask().catch(() => null);
    silent.hidden = told !== null;
    if (told?.status === 401 || told?.status === 404) return location.reload();
    if (told?.mark && told.mark !== section.dataset.mark) return location.reload();
    patience = told?.mark ? EVERY_MS : Math.min(patience * 2, 30000);
    clearTimeout(timer);
    timer = setTimeout(look, patience);
  };
  timer = setTimeout(look, EVERY_MS);
  document.addEventListener("visibilitychange", look);
  window.addEventListener("online", look);
}

// The server takes one form once; this only keeps people from wondering.
for (const form of document.querySelectorAll("form[data-once]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
window.addEventListener("pageshow", () => document.querySelectorAll("form[data-once]").forEach((form) => delete form.dataset.sent));

for (const button of document.querySelectorAll("[data-copy]")) {
  const text = document.getElementById(button.dataset.copy);
  text.addEventListener("focus", () => text.select());
  button.hidden = false;
  button.addEventListener("click", async () => {
    text.select();
    try {
      await navigator.clipboard.writeText(text.value);
    } catch {
      document.execCommand("copy");
    }
    button.parentElement.querySelector("[data-said]").textContent = text.dataset.copied;
  });
}
