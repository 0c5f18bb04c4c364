// What programs draw: layers of points, lines, arrows, text and ghosts of robots, from records that
// src/visual/draw.h describes, and a fold in which each can be hidden.
import * as THREE from "three";
import { POSE } from "./data";
import type { Cast, Frame, Robot } from "./data";
import { Discs } from "./discs";
import type { Layout } from "./layout";
import { ballGeometry, Pieces, rodGeometry, stretched } from "./marks";
import { byId, make } from "./page";
import { linkGeometries } from "./shapes";

const HEAD = 56; // bytes
const POINTS = 0, LINES = 1, ARROWS = 2, TEXT = 3, GHOST = 4, CLEARED = 15;
export const CONTROL = 16; // and its kind
const VEIL = 0.5; // opacity of ghosts

export interface DrawnRecord {
  slot: number;
  time: number; // [s]
  kind: number;
  color: number; // 0xrrggbbaa
  size: number; // [m]
  robot: number; // that carries it, or that a ghost is like; -1: the world
  link: number;
  numbers: Float32Array;
  name: string;
  text: string; // of a control: its unit
}

// Those of a buffer from `at` on, as far as they are whole.
export function readRecords(buffer: ArrayBuffer, at: number): DrawnRecord[] {
  const out: DrawnRecord[] = [], data = new DataView(buffer), letters = new TextDecoder();
  while (buffer.byteLength - at >= HEAD) {
    const [count, name, text] = [44, 48, 52].map((i) => data.getUint32(at + i, true));
    const size = data.getUint32(at, true), first = at + HEAD, names = first + 4 * count;
    if (size < HEAD + 4 * count + name + text || size > buffer.byteLength - at) break;
    out.push({ slot: data.getUint32(at + 4, true), time: data.getFloat64(at + 16, true),
      kind: data.getUint32(at + 24, true), color: data.getUint32(at + 28, true), size: data.getFloat32(at + 32, true),
      robot: data.getInt32(at + 36, true), link: data.getUint32(at + 40, true),
      numbers: new Float32Array(buffer.slice(first, names)),
      name: letters.decode(new Uint8Array(buffer, names, name)),
      text: letters.decode(new Uint8Array(buffer, names + name, text)) });
    at += size;
  }
  return out;
}

export type Layers = Map<number, DrawnRecord>; // by slot

export function putRecord(layers: Layers, record: DrawnRecord): void {
  if (record.kind === CLEARED) layers.delete(record.slot);
  else layers.set(record.slot, record);
}

// The layers of a film at any time.
export class DrawnLog {
  private readonly layers: Layers = new Map();
  private next = 0;
  private time = -Infinity;

  constructor(private readonly records: DrawnRecord[]) {}

  at(time: number): Layers {
    if (time < this.time) {
      this.layers.clear();
      this.next = 0;
    }
    this.time = time;
    while (this.next < this.records.length && this.records[this.next].time <= time + 1e-6)
      putRecord(this.layers, this.records[this.next++]);
    return this.layers;
  }
}

// ---- a layer -------------------------------------------------------------------------------------

const paintOf = (color: number): THREE.Color => new THREE.Color().setHex(color >>> 8, THREE.SRGBColorSpace);
const opacityOf = (color: number): number => (color & 255) / 255;

function pointAt(record: DrawnRecord, i: number): THREE.Vector3 {
  return new THREE.Vector3().fromArray(record.numbers, 3 * i);
}

// A sign that faces the eye, as high as its letters.
function sign(record: DrawnRecord): THREE.Sprite {
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d")!;
  const font = "600 64px sans-serif";
  pen.font = font;
  canvas.width = Math.max(8, Math.ceil(pen.measureText(record.text).width) + 24);
  canvas.height = 88;
  pen.font = font;
  pen.textBaseline = "middle";
  pen.lineWidth = 10;
  pen.strokeStyle = "rgba(255,255,255,.85)";
  pen.lineJoin = "round";
  pen.strokeText(record.text, 12, 46);
  pen.fillStyle = `#${(record.color >>> 8).toString(16).padStart(6, "0")}`;
  pen.fillText(record.text, 12, 46);
  const map = new THREE.CanvasTexture(canvas);
  map.colorSpace = THREE.SRGBColorSpace;
  const out = new THREE.Sprite(new THREE.SpriteMaterial({ map, depthTest: false, opacity: opacityOf(record.color) }));
  out.scale.set(1.375 * record.size * canvas.width / canvas.height, 1.375 * record.size, 1);
  out.position.copy(pointAt(record, 0));
  out.renderOrder = 8;
  return out;
}

class Layer {
  readonly group = new THREE.Group();
  private readonly discs: Discs | null = null;
  private readonly pieces: Pieces[] = []; // rods, then balls or tips
  private thick = -1; // [m] that they are drawn with

  constructor(readonly record: DrawnRecord, cast: Cast | null) {
    const { kind, color, numbers, size } = record, count = numbers.length / 3;
    if (kind === POINTS) {
      this.discs = new Discs(count, size / 2, paintOf(color), { opacity: opacityOf(color) });
      (this.discs.place.array as Float32Array).set(numbers);
      this.group.add(this.discs.points);
    } else if (kind === LINES) this.pieces = [this.some(rodGeometry(), count), this.some(ballGeometry(), count)];
    else if (kind === ARROWS)
      this.pieces = [this.some(rodGeometry(), count / 2),
        this.some(new THREE.ConeGeometry(1, 1, 12).rotateX(Math.PI / 2), count / 2)];
    else if (kind === TEXT) this.group.add(sign(record));
    else if (kind === GHOST && cast) this.ghost(cast);
  }

  private material(opacity: number): THREE.Material {
    return new THREE.MeshLambertMaterial({ transparent: opacity < 1, opacity });
  }

  private some(geometry: THREE.BufferGeometry, count: number): Pieces {
    const out = new Pieces(geometry, this.material(opacityOf(this.record.color)), count);
    this.group.add(out.mesh);
    return out;
  }

  private ghost(cast: Cast): void {
    const { numbers, color } = this.record;
    const material = this.material(VEIL * opacityOf(color)) as THREE.MeshLambertMaterial;
    material.color.copy(paintOf(color));
    for (let link = 0; link < cast.links; link++)
      for (const { geometry } of linkGeometries(cast, link)) {
        const mesh = new THREE.Mesh(geometry, material), p = numbers.subarray(POSE * link);
        mesh.position.set(p[0], p[1], p[2]);
        mesh.quaternion.set(p[4], p[5], p[6], p[3]).normalize();
        this.group.add(mesh);
      }
  }

  // With the size that it was given, but never too thin to be seen.
  update(camera: THREE.PerspectiveCamera, high: number, light: THREE.Vector3, distance: number): void {
    this.discs?.update(this.record.numbers.length / 3, camera, high, light);
    const least = 0.0012 * distance, thick = Math.max(this.record.size / 2, least);
    if (!this.pieces.length || Math.abs(thick - this.thick) < 0.1 * this.thick) return;
    this.thick = thick;
    if (this.record.kind === LINES) this.lines(thick);
    else this.arrows(thick);
    for (const pieces of this.pieces) pieces.end();
  }

  private lines(thick: number): void {
    const { record } = this, color = paintOf(record.color), [rods, balls] = this.pieces;
    for (let i = 0; i < record.numbers.length / 3; i++) {
      const to = pointAt(record, i), from = i ? pointAt(record, i - 1) : null;
      if (!Number.isFinite(to.x + to.y + to.z)) continue;
      balls.add(new THREE.Matrix4().makeScale(thick, thick, thick).setPosition(to), color);
      if (from && Number.isFinite(from.x + from.y + from.z)) rods.add(stretched(from, to, thick), color);
    }
  }

  private arrows(thick: number): void {
    const { record } = this, color = paintOf(record.color), [rods, tips] = this.pieces;
    for (let i = 0; i < record.numbers.length / 3; i += 2) {
      const from = pointAt(record, i), to = pointAt(record, i + 1), length = from.distanceTo(to);
      if (!(length > 0)) continue;
      const neck = to.clone().lerp(from, Math.min(6 * thick, 0.5 * length) / length);
      rods.add(stretched(from, neck, thick), color);
      tips.add(stretched(neck, to, 2.2 * thick), color);
    }
  }

  // On the link that carries it.
  carry(frame: Frame, robots: Robot[], layout: Layout): void {
    const { robot, link, kind } = this.record;
    if (robot < 0 || kind === GHOST) return;
    const carrier = robots[robot];
    this.group.visible &&= carrier !== undefined;
    if (!carrier) return;
    const p = frame.poses, i = POSE * (carrier.first + link), shift = layout.shift(robot);
    this.group.position.set(p[i] + shift[0], p[i + 1] + shift[1], p[i + 2] + shift[2]);
    this.group.quaternion.set(p[i + 4], p[i + 5], p[i + 6], p[i + 3]).normalize();
  }

  drop(): void {
    this.group.traverse((part) => {
      if (!(part instanceof THREE.Mesh || part instanceof THREE.Points || part instanceof THREE.Sprite)) return;
      part.geometry.dispose();
      if (part instanceof THREE.InstancedMesh) part.dispose();
      if (part instanceof THREE.Sprite) part.material.map?.dispose();
      (part.material as THREE.Material).dispose();
    });
  }
}

// ---- all of them ---------------------------------------------------------------------------------

export class Drawn {
  readonly group = new THREE.Group();
  private readonly layers = new Map<number, Layer>();
  private readonly hidden = new Set<string>();
  private readonly fold = byId("drawings");
  private listed = "";

  constructor(private readonly robots: Robot[], private readonly layout: Layout) {}

  update(records: Layers, frame: Frame, camera: THREE.PerspectiveCamera, high: number, light: THREE.Vector3,
    distance: number): void {
    for (const [slot, layer] of this.layers)
      if (records.get(slot) !== layer.record) {
        layer.drop();
        this.group.remove(layer.group);
        this.layers.delete(slot);
      }
    for (const [slot, record] of records) {
      const layer = this.layers.get(slot) ?? this.add(slot, record);
      layer.group.visible = !this.hidden.has(record.name);
      layer.carry(frame, this.robots, this.layout);
      if (layer.group.visible) layer.update(camera, high, light, distance);
    }
    this.list([...new Set([...records.values()].map((record) => record.name))].sort());
  }

  private add(slot: number, record: DrawnRecord): Layer {
    const layer = new Layer(record, this.robots[record.robot]?.cast ?? null);
    this.layers.set(slot, layer);
    this.group.add(layer.group);
    return layer;
  }

  private list(names: string[]): void {
    const key = JSON.stringify(names);
    if (key === this.listed) return;
    this.listed = key;
    this.fold.hidden = names.length === 0;
    this.fold.replaceChildren(make("summary", "drawings"), ...names.map((name) => {
      const label = make("label"), box = make("input");
      box.type = "checkbox";
      box.checked = !this.hidden.has(name);
      box.onchange = () => {
        if (box.checked) this.hidden.delete(name);
        else this.hidden.add(name);
        this.onChange();
      };
      label.append(box, make("span", ` ${name}`));
      return label;
    }));
  }

  onChange = (): void => {}; // of what is shown
}
