// Codes for the door are renewed: whoever comes back to the page after a while sees the one that is good now.

const OLD_MS = 10 * 60 * 1000;
let shown = Date.now();

function renew() {
  if (document.hidden || Date.now() - shown < OLD_MS) return;
  shown = Date.now();
  for (const picture of document.querySelectorAll("[data-code]")) {
    const address = new URL(picture.src);
    address.searchParams.set("at", shown);
    picture.src = address.href;
  }
}

document.addEventListener("visibilitychange", renew);
setInterval(renew, OLD_MS);
