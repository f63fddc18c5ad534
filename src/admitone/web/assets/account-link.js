// A link of a letter has its secret behind the #, where no server sees it: it is put into the form, and taken out of the
// address. Whoever has to sign in first finds it here when they come back, in the same tab.

const KEPT = `link:${location.pathname}`;
const field = document.getElementById("token");
const found = location.hash.slice(1) || sessionStorage.getItem(KEPT) || "";

if (found) {
  sessionStorage.setItem(KEPT, found);
  history.replaceState(null, "", location.pathname + location.search);
}
if (field) {
  if (found && !field.value) field.value = found;
  if (field.value) field.closest(".from-link").hidden = true;
  field.form.addEventListener("submit", () => sessionStorage.removeItem(KEPT));
}
