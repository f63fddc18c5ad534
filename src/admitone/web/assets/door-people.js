// Finding somebody by name without leaving the door. Nothing found is kept.

import { NoAnswer, ask, base, event } from "./door-api.js";

const MOST = 20;

function line(holder, say, letIn) {
  const item = document.createElement("li");
  const who = document.createElement("p");
  const name = document.createElement("strong");
  name.textContent = holder.holderName || say("unnamed");
  who.append(name, document.createElement("br"), holder.label);
  item.append(who, whatNext(holder, say, letIn, name.textContent));
  return item;
}

function whatNext(holder, say, letIn, name) {
  const isUsed = holder.entries >= holder.maxEntries;
  if (isUsed || holder.status !== "ACTIVE" || !holder.methods.includes("MANUAL")) {
    const said = document.createElement("span");
    said.className = isUsed ? "state twice" : "state";
    said.textContent = isUsed ? say("came-in") : holder.status === "ACTIVE" ? say("not-by-hand") : say("refused");
    return said;
  }
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = say("let-in");
  button.setAttribute("aria-label", `${say("let-in")}: ${name}, ${holder.label}`);
  button.addEventListener("click", () => { button.disabled = true; letIn(holder); });
  return button;
}

export async function search(form, list, say, letIn, told) {
  list.replaceChildren();
  try {
    const body = { search: form.search.value.trim(), limit: MOST };
    const { items } = await ask(`${base}/events/${event}/holders`, { method: "POST", body });
    list.replaceChildren(...items.map((each) => line(each, say, letIn)));
    if (!items.length) list.textContent = say("nobody-found");
  } catch (problem) {
    list.textContent = problem instanceof NoAnswer ? say("needs-network") : told(problem);
  }
}
