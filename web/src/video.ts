// A video of what is drawn, made by the browser while it is drawn, and saved like a picture.
import { make, say } from "./page";

const RATE = 30; // pictures per second
const BITS = 12e6; // per second
const KINDS = ["video/webm;codecs=vp8", "video/webm", "video/mp4"]; // what keeps up first

export class Video {
  private recorder: MediaRecorder | null = null;
  parts: Blob[] = []; // so far

  constructor(private readonly canvas: HTMLCanvasElement) {}

  get on(): boolean {
    return this.recorder !== null;
  }

  // Begins; or ends and saves it.
  toggle(): void {
    if (this.recorder) return this.recorder.stop();
    const kind = typeof MediaRecorder === "undefined" || !this.canvas.captureStream ? undefined
      : KINDS.find((name) => MediaRecorder.isTypeSupported(name));
    if (!kind) return say("This browser cannot record videos: it needs MediaRecorder (Chromium, Firefox, Safari).");
    const stream = this.canvas.captureStream(RATE);
    const recorder = new MediaRecorder(stream, { mimeType: kind, videoBitsPerSecond: BITS });
    this.parts = [];
    recorder.ondataavailable = (event) => this.parts.push(event.data);
    recorder.onstop = () => {
      for (const track of stream.getTracks()) track.stop();
      this.recorder = null;
      this.save(kind);
    };
    recorder.onerror = () => say("The video could not be recorded.");
    recorder.start(250); // parts of so many milliseconds
    this.recorder = recorder;
    say("A video is recorded: O ends and saves it.");
  }

  private save(kind: string): void {
    const link = make("a"), data = new Blob(this.parts, { type: kind });
    if (!data.size) return say("Nothing was drawn, so there is no video.");
    link.download = `${document.title.replace(/[^\w-]+/g, "_") || "mayfly"}.${kind.slice(6).split(";")[0]}`;
    link.href = URL.createObjectURL(data);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
}
