// What a steward hears and feels without looking: one tone up, one low, two alike.

const SOUNDS = {
  good: [[880, 0, 0.09], [1320, 0.1, 0.16]],
  bad: [[196, 0, 0.45]],
  twice: [[523, 0, 0.12], [523, 0.2, 0.12]],
};
const SHAKES = { good: [80], bad: [400], twice: [120, 80, 120] };

let audio = null;

// Browsers make no sound before somebody has touched the page.
export function wake() {
  audio ||= new (globalThis.AudioContext || globalThis.webkitAudioContext)();
  if (audio.state === "suspended") audio.resume().catch(() => {});
}

function tone([pitch, begins, lasts], kind) {
  const from = audio.currentTime + begins;
  const source = audio.createOscillator();
  const loudness = audio.createGain();
  source.type = kind === "bad" ? "square" : "sine";
  source.frequency.value = pitch;
  loudness.gain.setValueAtTime(0.0001, from);
  loudness.gain.exponentialRampToValueAtTime(0.4, from + 0.01);
  loudness.gain.exponentialRampToValueAtTime(0.0001, from + lasts);
  source.connect(loudness).connect(audio.destination);
  source.start(from);
  source.stop(from + lasts + 0.02);
}

export function signal(kind) {
  if (audio && audio.state === "running") SOUNDS[kind].forEach((each) => tone(each, kind));
  if (navigator.vibrate && navigator.userActivation && navigator.userActivation.hasBeenActive) navigator.vibrate(SHAKES[kind]);
}
