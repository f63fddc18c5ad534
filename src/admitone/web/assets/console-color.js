/* Beside a box for a colour, a way to choose it by eye. The box is what is sent. */

for (const chooser of document.querySelectorAll("[data-color-of]")) {
  const box = document.getElementById(chooser.dataset.colorOf);
  const follow = () => { if (/^#[0-9a-f]{6}$/i.test(box.value)) chooser.value = box.value; };
  box.addEventListener("input", follow);
  chooser.addEventListener("input", () => { box.value = chooser.value; });
  follow();
  chooser.hidden = false;
}
