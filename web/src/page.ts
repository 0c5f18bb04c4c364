// Elements of the page.
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

export function make<K extends keyof HTMLElementTagNameMap>(tag: K, text = "", name = ""): HTMLElementTagNameMap[K] {
  const out = document.createElement(tag);
  out.textContent = text;
  if (name) out.className = name;
  return out;
}

let hiding = 0;

// One line for the user; it goes away unless it is to stay.
export function say(text: string, stays = false): void {
  const place = byId("message");
  place.textContent = text;
  place.hidden = text === "";
  clearTimeout(hiding);
  if (!stays) hiding = window.setTimeout(() => { place.hidden = true; }, 5000);
}

export function number(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e5)) return value.toExponential(2);
  return value.toFixed(Math.abs(value) >= 100 ? 1 : 3);
}

// A time with the decimals of the world's steps, what comes after it, and which step it is.
export function timeText(time: number, { step }: { step?: number }, after: string): string {
  if (!step) return time.toFixed(2) + after;
  const decimals = Math.min(Math.max(2, Math.ceil(-Math.log10(step) - 1e-9)), 6);
  return `${time.toFixed(decimals)}${after}, step ${Math.round(time / step)}`;
}

export function showPlaying(on: boolean): void {
  byId("play").classList.toggle("on", on);
  byId("play").setAttribute("aria-label", on ? "pause" : "play");
}

// Whether pictures are computed by the processor: then each corner and each pixel is dear.
export function withoutCard(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}
