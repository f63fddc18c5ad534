// Hands the address of a page on, in whichever way the device has: its own sheet, or the clipboard.

function ready(button) {
  const url = button.dataset.share;
  button.hidden = !navigator.share && !navigator.clipboard;
  button.addEventListener("click", async () => {
    try {
      if (navigator.share) {
        await navigator.share({ title: document.title, url });
      } else {
        await navigator.clipboard.writeText(url);
        button.textContent = button.dataset.shared;
      }
    } catch {
      // Whoever closes the sheet did not want to.
    }
  });
}

document.querySelectorAll("[data-share]").forEach(ready);
