// The camera, and what it reads: by the browser's own detector where there is one, else by asking our server, one frame
// at a time. A code counts once for as long as it is held there.

import { NoAnswer, Refused, ask, base } from "./door-api.js";

const EVERY_MS = 120;
const FORGOTTEN_MS = 2000;
const WIDEST = 800;
const AFTER_REFUSAL_MS = 2000;
const AFTER_LOSS_MS = 5000;

const canvas = document.createElement("canvas");

async function ownDetector() {
  if (!globalThis.BarcodeDetector) return null;
  try {
    const formats = await BarcodeDetector.getSupportedFormats();
    return formats.includes("qr_code") ? new BarcodeDetector({ formats: ["qr_code"] }) : null;
  } catch {
    return null;
  }
}

function frameOf(video) {
  const scale = Math.min(1, WIDEST / video.videoWidth);
  canvas.width = Math.round(video.videoWidth * scale);
  canvas.height = Math.round(video.videoHeight * scale);
  canvas.getContext("2d").drawImage(video, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.7));
}

async function readByServer(video) {
  const body = await frameOf(video);
  const said = await ask(`${base}/frames`, { method: "POST", body, type: "image/jpeg" });
  return said.text;
}

async function readByBrowser(detector, video) {
  const [found] = await detector.detect(video);
  return found ? found.rawValue : null;
}

export class NoCamera extends Error {}

// It may be here again when somebody looks at the page again, when one is plugged in, or after a while; whoever was
// told not to use it does not ask again and again.
function anotherChance(isForbidden) {
  const { mediaDevices } = navigator;
  return new Promise((resolve) => {
    const over = new AbortController();
    const tryIt = () => { over.abort(); resolve(); };
    document.addEventListener("visibilitychange", () => { if (!document.hidden) tryIt(); }, { signal: over.signal });
    if (mediaDevices) mediaDevices.addEventListener("devicechange", tryIt, { signal: over.signal });
    if (mediaDevices && !isForbidden) setTimeout(tryIt, AFTER_LOSS_MS);
  });
}

export class Camera {
  #video;
  #track = null;
  #detector = null;
  #last = null;
  #seenAt = 0;

  constructor(video) { this.#video = video; }

  // Another application may take it, and a telephone that slept.
  get #isOpen() { return this.#track !== null && this.#track.readyState === "live"; }

  async #open() {
    const stream = await navigator.mediaDevices.getUserMedia({
      video: { facingMode: "environment", width: { ideal: 1280 }, height: { ideal: 720 } }, audio: false,
    });
    this.#video.srcObject = stream;
    await this.#video.play();
    this.#detector = await ownDetector();
    [this.#track] = stream.getVideoTracks();
  }

  // Calls `saw` with each code that is new, and `trouble` when nothing can be read.
  async watch({ isBusy, saw, trouble }) {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
      // While a verdict is shown nobody looks; what was held there is taken to be held there still.
      if (isBusy()) this.#seenAt = performance.now();
      if (isBusy() || document.hidden) continue;
      if (!this.#isOpen) { await this.#tryToOpen(trouble); continue; }
      if (this.#video.readyState < 2) continue;
      const text = await this.#tryToRead(trouble);
      if (text) await saw(text);
    }
  }

  async #tryToOpen(trouble) {
    try {
      await this.#open();
    } catch (problem) {
      trouble(new NoCamera());
      await anotherChance(problem.name === "NotAllowedError");
    }
  }

  async #tryToRead(trouble) {
    try {
      const text = await this.#read();
      trouble(null);
      return this.#fresh(text);
    } catch (problem) {
      trouble(problem);
      // A detector that fails on a frame will fail on the next: the server reads from now on.
      if (!(problem instanceof NoAnswer) && !(problem instanceof Refused)) this.#detector = null;
      await new Promise((resolve) => setTimeout(resolve, AFTER_REFUSAL_MS));
      return null;
    }
  }

  #read() { return this.#detector ? readByBrowser(this.#detector, this.#video) : readByServer(this.#video); }

  #fresh(text) {
    const now = performance.now();
    if (!text) return null;
    const isHeldThere = text === this.#last && now - this.#seenAt < FORGOTTEN_MS;
    this.#last = text;
    this.#seenAt = now;
    return isHeldThere ? null : text;
  }
}
