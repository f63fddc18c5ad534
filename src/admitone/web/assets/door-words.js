// What the page says, in its language and by the clock of its event.

export const door = document.getElementById("door");
export const find = (id) => document.getElementById(id);

const { lang } = document.documentElement;
const { zone: timeZone } = door.dataset;
const words = new Map(Array.from(document.querySelectorAll("[data-word]"), (each) => [each.dataset.word, each.textContent]));
const clock = new Intl.DateTimeFormat(lang, { timeZone, hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(lang, { timeZone, dateStyle: "medium" });

export const say = (name, values = {}) => (words.get(name) || name).replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);

// Only what is new is written: whoever listens to the page is not told the same again and again.
export function put(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

export function moment(at) {
  const then = new Date(at);
  const isToday = day.format(new Date()) === day.format(then);
  return isToday ? clock.format(then) : `${day.format(then)}, ${clock.format(then)}`;
}
