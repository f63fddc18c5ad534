// A page that shows something on its way looks again until it has arrived.

const EVERY_MS = 2000;

async function look() {
  const shown = document.querySelector("[data-follow]");
  if (!shown) return;
  if (!document.hidden) {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => null);
    if (answer && answer.ok && !answer.redirected) {
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(shown.id);
      if (fresh) shown.replaceWith(fresh);
    }
  }
  setTimeout(look, EVERY_MS);
}

setTimeout(look, EVERY_MS);
