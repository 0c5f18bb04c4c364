// A running world: frames and readings over a WebSocket, commands back. The page asks for the next
// frame when it has drawn the last one, so a slow page gets fewer frames and holds nothing up.
import { CONTACT, JOINT, RAY, POSE } from "./data";
import type { Description, Frame, Source } from "./data";
import { CONTROL, putRecord, readRecords } from "./drawn";
import type { Layers } from "./drawn";
import { unpackMeshes } from "./mesh";
import type { About, Reading } from "./quantities";

const MAGIC = 0x4d46524d;
const DRAWN = 0x4d464452;
const HEAD = 64, DRAWN_HEAD = 16; // bytes

export interface Status {
  paused: boolean;
  factor: number; // simulated seconds per second of the clock, at present
  speed: number; // what is wanted; 0: as fast as possible
}

export class Live implements Source {
  readonly live = true;
  description!: Description;
  status: Status = { paused: false, factor: 0, speed: 1 };
  frames = 0; // that differ from the one before: a paused world sends the same again
  contacts = false; // are wanted
  lacks: string[] = []; // commands of which nothing would come
  onScene = (): void => {};
  onReading = (_reading: Reading): void => {};
  onAbout = (_about: About, _robot: number): void => {};
  onNote = (_text: string, _stays: boolean): void => {};
  private now: Frame | null = null; // the newest, also of a world that was replaced
  private raw = new Uint32Array(); // what `now` consists of
  private fresh = false; // a scene came, and no frame of it yet
  private socket: WebSocket | null = null;
  private asked = false;
  readonly controls: Layers = new Map(); // of programs
  private readonly layers: Layers = new Map();
  private drawnSeen = 0; // number of the last change
  private drawnAsked = false;
  private scenes = 0; // that came

  connect(): void {
    const place = new URL(location.href), token = place.searchParams.get("token");
    const socket = new WebSocket(`${place.protocol === "https:" ? "wss" : "ws"}://${place.host}/live`
      + (token ? `?token=${encodeURIComponent(token)}` : ""));
    socket.binaryType = "arraybuffer";
    socket.onmessage = (event) => {
      if (typeof event.data === "string") this.words(event.data);
      else this.take(event.data as ArrayBuffer);
    };
    socket.onclose = () => {
      this.socket = null;
      this.asked = false;
      this.onNote("The simulation has ended or is not reachable; trying again ...", true);
      setTimeout(() => this.connect(), 1500);
    };
    this.socket = socket;
  }

  private words(text: string): void {
    const message = JSON.parse(text) as { scene?: Description; lacks?: string[]; reading?: Reading; about?: About;
      robot?: number; note?: string };
    this.lacks = message.lacks ?? this.lacks;
    if (message.scene) this.begin(message.scene).catch((error) => this.onNote(String(error), true));
    if (message.about) this.onAbout(message.about, message.robot ?? -1);
    if (message.reading) this.onReading(message.reading);
    if (message.note) this.onNote(message.note, false);
  }

  private async begin(scene: Description): Promise<void> {
    const number = ++this.scenes;
    this.controls.clear();
    this.layers.clear();
    this.drawnSeen = 0;
    this.drawnAsked = false;
    this.asked = true; // no frame of a scene that is not there yet
    await unpackMeshes(scene);
    if (number !== this.scenes) return; // another one came
    this.description = scene;
    this.asked = false;
    this.fresh = true;
    this.onNote("", true);
    this.next();
  }

  private take(data: ArrayBuffer): void {
    const head = new DataView(data), words = (i: number): number => head.getUint32(4 * i, true);
    if (words(0) === DRAWN) this.takeDrawn(data);
    if (words(0) !== MAGIC) return;
    this.asked = false;
    if (words(15) !== this.drawnSeen % 2 ** 32 && !this.drawnAsked) {
      this.drawnAsked = true;
      this.send({ do: "drawn", since: this.drawnSeen });
    }
    const sizes = [POSE * words(8), JOINT * words(9), RAY * words(10), 3 * words(11), CONTACT * words(13), words(14)];
    let at = HEAD;
    const [poses, joints, rays, points, contacts, levels] = sizes.map((size) => {
      const part = new Float32Array(data, at, size);
      at += 4 * size;
      return part;
    });
    const first = this.fresh, before = this.raw, time = head.getFloat64(8, true);
    this.raw = new Uint32Array(data, HEAD, (at - HEAD) / 4);
    const same = !first && this.now?.time === time && this.raw.length === before.length
      && this.raw.every((word, i) => word === before[i]);
    this.fresh = false;
    this.now = { time, poses, joints, rays, points, contacts, levels };
    this.status = { paused: (words(1) & 1) !== 0, factor: head.getFloat64(16, true), speed: head.getFloat64(24, true) };
    if (!same) this.frames++;
    if (first) this.onScene();
  }

  private takeDrawn(data: ArrayBuffer): void {
    this.drawnAsked = false;
    this.drawnSeen = Number(new DataView(data).getBigUint64(8, true));
    for (const record of readRecords(data, DRAWN_HEAD)) {
      this.controls.delete(record.slot);
      this.layers.delete(record.slot);
      putRecord(record.kind >= CONTROL ? this.controls : this.layers, record);
    }
    this.frames++; // something is to be drawn
  }

  drawings(): Layers {
    return this.layers;
  }

  frame(): Frame {
    return this.now!;
  }

  // Asks for the next frame, unless it is on its way.
  next(): void {
    if (this.asked || this.socket?.readyState !== WebSocket.OPEN) return;
    this.asked = true;
    this.send(this.contacts ? { do: "next", contacts: true } : { do: "next" });
  }

  send(command: object): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }
}
