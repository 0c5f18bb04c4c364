// What is drawn beside robots: run-time joints by their force, rays of range sensors, particles,
// frames of links, trails.
import * as THREE from "three";
import { JOINT, POSE, RAY } from "./data";
import type { Description, Frame, Robot } from "./data";
import type { Layout } from "./layout";
import { Discs } from "./discs";
import { cssColor, paint } from "./shapes";

export const HOLDS = 1, OFF = 2; // states of a joint
const LITTLE = 0.01; // [1] of the largest force, which a joint without a label carries

export const VEHICLES = new Set(["quadrotor", "fixed_wing", "car"]); // motions

const Z = new THREE.Vector3(0, 0, 1);

// Rods or balls, as many as a picture needs.
export class Pieces {
  readonly mesh: THREE.InstancedMesh;
  count = 0;

  constructor(geometry: THREE.BufferGeometry, material: THREE.Material, readonly most: number) {
    this.mesh = new THREE.InstancedMesh(geometry, material, Math.max(most, 1));
    this.mesh.frustumCulled = false;
    this.mesh.setColorAt(0, new THREE.Color());
  }

  add(matrix: THREE.Matrix4, color: THREE.Color): void {
    if (this.count >= this.most) return;
    this.mesh.setMatrixAt(this.count, matrix);
    this.mesh.setColorAt(this.count++, color);
  }

  end(): void {
    this.mesh.count = this.count;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
    this.count = 0;
  }
}

export const rodGeometry = (): THREE.BufferGeometry => new THREE.CylinderGeometry(1, 1, 1, 10).rotateX(Math.PI / 2);
export const ballGeometry = (): THREE.BufferGeometry => new THREE.SphereGeometry(1, 14, 10);

// Takes a rod of radius 1 and length 1 there.
export function stretched(from: THREE.Vector3, to: THREE.Vector3, radius: number): THREE.Matrix4 {
  const way = to.clone().sub(from), length = way.length();
  const turn = new THREE.Quaternion().setFromUnitVectors(Z, length > 1e-9 ? way.divideScalar(length) : Z);
  return new THREE.Matrix4().compose(from.clone().add(to).multiplyScalar(0.5), turn,
    new THREE.Vector3(radius, radius, length));
}

export const dot = (at: THREE.Vector3, radius: number): THREE.Matrix4 =>
  new THREE.Matrix4().makeScale(radius, radius, radius).setPosition(at);

// ---- joints ------------------------------------------------------------------------------------

export interface JointNow {
  index: number;
  from: THREE.Vector3;
  to: THREE.Vector3;
  force: number; // [N]
  state: number;
  load: number; // [1] of what breaks it; < 0: nothing does
}

const inNewtons = (force: number): string => force > 0 && force < 0.1 ? `${(1000 * force).toPrecision(2)} mN`
  : force >= 1000 ? `${(force / 1000).toPrecision(3)} kN`
  : `${force >= 100 ? force.toFixed(0) : force.toPrecision(2)} N`;

// Whether its force is worth a label beside the largest one now.
export const isLoaded = (joint: JointNow, most: number): boolean => joint.force > LITTLE * most || joint.state !== HOLDS;

export function jointText(joint: JointNow): string {
  if (joint.state !== HOLDS) return joint.state === OFF ? "off" : `broke at ${inNewtons(joint.force)}`;
  return inNewtons(joint.force) + (joint.load < 0 ? "" : `, ${(100 * joint.load).toFixed(0)} % of its limit`);
}

export function jointSummary(joints: JointNow[]): string {
  const held = joints.filter((joint) => joint.state === HOLDS);
  return `${held.length} ${held.length === 1 ? "joint" : "joints"}, largest force ${inNewtons(held[0]?.force ?? 0)}`;
}

// From green without load over yellow to red where it breaks, or, if nothing breaks it, from blue to
// violet with the largest force so far.
function jointColor(joint: JointNow, most: number): THREE.Color {
  if (joint.state !== HOLDS) return paint(joint.state === OFF ? [0.6, 0.6, 0.6] : [0.1, 0.1, 0.1]);
  const part = joint.load < 0 ? (most > 0 ? joint.force / most : 0) : Math.min(joint.load, 1);
  return paint(joint.load < 0 ? [0.1 + 0.6 * part, 0.4 * (1 - part), 0.95]
    : [Math.min(1, 0.1 + 1.8 * part), Math.min(0.75, 1.5 * (1 - part)), 0.05]);
}

export class Joints {
  readonly group = new THREE.Group();
  private readonly rods: Pieces;
  private readonly knobs: Pieces;

  constructor(most: number, private largest: number) {
    const through = { depthTest: false, transparent: true }; // they are inside of robots
    this.rods = new Pieces(rodGeometry(), new THREE.MeshStandardMaterial(through), 2 * most);
    this.knobs = new Pieces(ballGeometry(), new THREE.MeshStandardMaterial(through), 2 * most);
    for (const pieces of [this.rods, this.knobs]) {
      pieces.mesh.renderOrder = 5;
      this.group.add(pieces.mesh);
    }
  }

  // Draws them, and returns them by force.
  update(frame: Frame, thick: number): JointNow[] {
    const rows = frame.joints, show: JointNow[] = [];
    for (let i = 0; i < rows.length; i += JOINT) {
      if (rows[i + 7] === 0) continue;
      const joint = { index: i / JOINT, from: new THREE.Vector3().fromArray(rows, i), to: new THREE.Vector3().fromArray(rows, i + 3),
        force: rows[i + 6], state: rows[i + 7], load: rows[i + 8] };
      this.largest = Math.max(this.largest, joint.force);
      show.push(joint);
      const color = jointColor(joint, this.largest);
      for (const [from, to] of this.pieces(joint, 8 * thick)) this.rods.add(stretched(from, to, thick), color);
      for (const at of [joint.from, joint.to]) this.knobs.add(dot(at, 2 * thick), color);
    }
    this.rods.end();
    this.knobs.end();
    return show.sort((a, b) => b.force - a.force);
  }

  // One rod between its anchors; of a broken joint only the stumps, however far apart.
  private pieces(joint: JointNow, stump: number): [THREE.Vector3, THREE.Vector3][] {
    const length = joint.from.distanceTo(joint.to);
    if (joint.state === HOLDS || joint.state === OFF || length < 2 * stump) return [[joint.from, joint.to]];
    return [[joint.from, joint.from.clone().lerp(joint.to, stump / length)],
      [joint.to, joint.to.clone().lerp(joint.from, stump / length)]];
  }
}

// ---- rays of range sensors ---------------------------------------------------------------------

// To what a sensor sees, or faint to the end of its reach.
export class Rays {
  readonly group = new THREE.Group();
  private readonly hits: Pieces;
  private readonly misses: Pieces;
  private readonly ends: Pieces;
  private readonly red = paint([0.95, 0.25, 0.1]);
  private readonly blue = paint([0.2, 0.55, 0.95]);

  constructor(most: number) {
    this.hits = new Pieces(rodGeometry(), new THREE.MeshBasicMaterial(), most);
    this.misses = new Pieces(rodGeometry(), new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.5 }), most);
    this.ends = new Pieces(ballGeometry(), new THREE.MeshBasicMaterial(), most);
    for (const pieces of [this.hits, this.misses, this.ends]) this.group.add(pieces.mesh);
  }

  update(frame: Frame, thick: number): void {
    for (let i = 0; i < frame.rays.length; i += RAY) {
      const from = new THREE.Vector3().fromArray(frame.rays, i);
      const to = new THREE.Vector3().fromArray(frame.rays, i + 3);
      if (from.distanceTo(to) < 1e-6) continue;
      const met = frame.rays[i + 6] > 0;
      (met ? this.hits : this.misses).add(stretched(from, to, thick), met ? this.red : this.blue);
      if (met) this.ends.add(dot(to, 3 * thick), this.red);
    }
    for (const pieces of [this.hits, this.misses, this.ends]) pieces.end();
  }
}

// ---- particles ---------------------------------------------------------------------------------

export class Clouds {
  readonly group = new THREE.Group();
  private readonly discs: Discs[];

  constructor(description: Description) {
    this.discs = description.clouds.map((cloud) =>
      new Discs(cloud.points, cloud.radius, paint(cssColor(cloud.tint) ?? cloud.color), { wet: cloud.fluid }));
    for (const discs of this.discs) this.group.add(discs.points);
  }

  update(frame: Frame, camera: THREE.PerspectiveCamera, high: number, light: THREE.Vector3): void {
    let first = 0;
    for (const discs of this.discs) {
      const numbers = discs.place.array as Float32Array;
      numbers.set(frame.points.subarray(first, first + numbers.length));
      first += numbers.length;
      discs.update(numbers.length / 3, camera, high, light);
    }
  }
}

// ---- frames of links, and trails ---------------------------------------------------------------

const AXES_MOST = 600; // links

export class Axes {
  readonly lines: THREE.LineSegments;

  constructor() {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(18 * AXES_MOST), 3));
    geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(18 * AXES_MOST), 3));
    const paints = [[0.9, 0.15, 0.15], [0.1, 0.7, 0.2], [0.15, 0.35, 0.95]].map(paint);
    for (let i = 0; i < 6 * AXES_MOST; i++)
      paints[Math.floor(i / 2) % 3].toArray(geometry.getAttribute("color").array, 3 * i);
    this.lines = new THREE.LineSegments(geometry,
      new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
    this.lines.frustumCulled = false;
    this.lines.renderOrder = 6;
    this.lines.visible = false;
  }

  update(frame: Frame, robots: Robot[], layout: Layout): void {
    if (!this.lines.visible) return;
    const place = this.lines.geometry.getAttribute("position"), at = new THREE.Vector3();
    const turn = new THREE.Quaternion(), axis = new THREE.Vector3(), length = 0.3 * layout.radius;
    let count = 0;
    robots.forEach((robot, r) => {
      const shift = new THREE.Vector3(...layout.shift(r));
      for (let l = 0; l < robot.cast.links && count < 6 * AXES_MOST; l++) {
        const i = POSE * (robot.first + l), p = frame.poses;
        at.fromArray(p, i).add(shift);
        turn.set(p[i + 4], p[i + 5], p[i + 6], p[i + 3]).normalize();
        for (let a = 0; a < 3; a++) {
          axis.set(0, 0, 0).setComponent(a, length).applyQuaternion(turn).add(at);
          place.setXYZ(count++, at.x, at.y, at.z);
          place.setXYZ(count++, axis.x, axis.y, axis.z);
        }
      }
    });
    place.needsUpdate = true;
    this.lines.geometry.setDrawRange(0, count);
  }
}

const TRAILS = 1200; // [1] robots that have one
const SEGMENTS = 2e5; // [1] of all trails
const SWARM = 64; // [1] robots from which only the last seconds are shown
const LAST = 8; // [s]

// The paths of robots: segments, sample by sample, so that what is drawn is one range of them. A film has all of
// them from the start, a running world gets them as it goes on; `tips` lead from the last sample to now.
export class Trails {
  readonly group = new THREE.Group();
  private readonly which: number[]; // robots
  private readonly most: number; // samples
  private readonly lines: THREE.LineSegments;
  private readonly tips: THREE.LineSegments;
  private readonly times: number[] = []; // [s] of samples
  private last: Float32Array | null = null; // [m] points of the last sample

  constructor(private readonly layout: Layout, private readonly film: { sample(i: number): Float32Array;
    description: Description } | null) {
    const { actors, description } = layout, every = Math.ceil(actors.length / TRAILS);
    this.which = actors.filter((_, i) => i % every === 0);
    const fit = Math.max(2, Math.floor(SEGMENTS / Math.max(this.which.length, 1)));
    this.most = film ? Math.min(fit, description.frames) : Math.min(fit, 4000);
    this.lines = this.make(this.most - 1);
    this.tips = this.make(1);
    const all = description.casts.map(({ motion }) => motion ?? "");
    this.group.visible = description.robots > 1 && all.some((motion) => VEHICLES.has(motion))
      && all.every((motion) => VEHICLES.has(motion) || motion === "external");
  }

  private make(samples: number): THREE.LineSegments {
    const geometry = new THREE.BufferGeometry(), { which, layout: { robots } } = this;
    const place = new Float32Array(6 * which.length * samples), color = new Uint8Array(place.length);
    const colors = which.flatMap((r, i) => {
      const own = cssColor(robots[r].cast.color);
      const seen = own ? paint(own) : new THREE.Color().setHSL((0.07 + 0.381966 * i) % 1, 0.8, 0.5);
      return [...seen.toArray(), ...seen.toArray()].map((x) => Math.round(255 * x));
    });
    for (let s = 0; s < samples; s++) color.set(colors, s * colors.length);
    geometry.setAttribute("position", new THREE.BufferAttribute(place, 3));
    geometry.setAttribute("color", new THREE.BufferAttribute(color, 3, true));
    const out = new THREE.LineSegments(geometry,
      new THREE.LineBasicMaterial({ vertexColors: true, transparent: true, opacity: 0.75 }));
    out.frustumCulled = false;
    this.group.add(out);
    return out;
  }

  private pointsOf(frame: Frame): Float32Array {
    const out = new Float32Array(3 * this.which.length);
    this.which.forEach((r, i) => {
      const shift = this.layout.shift(r);
      out.set(this.layout.middleOf(r, frame).map((x, c) => x + shift[c]), 3 * i);
    });
    return out;
  }

  // Segments from one sample to the next; a robot that is not there has none.
  private join(lines: THREE.LineSegments, sample: number, from: Float32Array, to: Float32Array): void {
    const place = lines.geometry.getAttribute("position"), out = place.array, base = 2 * sample * from.length;
    for (let i = 0; i < from.length; i += 3) {
      const whole = Number.isFinite(from[i] + to[i]), start = whole ? from : [0, 0, 0], end = whole ? to : start;
      for (let c = 0; c < 3; c++) {
        out[base + 2 * i + c] = start[whole ? i + c : c];
        out[base + 2 * i + 3 + c] = end[whole ? i + c : c];
      }
    }
    place.needsUpdate = true;
  }

  private add(time: number, now: Float32Array): void {
    if (this.times.length === this.most) { // the first half goes
      const half = Math.floor(this.most / 2), { array } = this.lines.geometry.getAttribute("position");
      array.copyWithin(0, 2 * half * now.length);
      this.times.splice(0, half);
    }
    if (this.last) this.join(this.lines, this.times.length - 1, this.last, now);
    this.times.push(time);
    this.last = now;
  }

  private readFilm(film: NonNullable<Trails["film"]>, frame: Frame): void {
    const { frames, period } = film.description, every = Math.ceil(frames / this.most);
    for (let s = 0; s < frames; s += every) this.add(s * period, this.pointsOf({ ...frame, poses: film.sample(s) }));
  }

  update(frame: Frame): void {
    if (!this.group.visible) return;
    const { times, film } = this, now = this.pointsOf(frame);
    if (film && !times.length) this.readFilm(film, frame);
    if (!film && frame.time < (times[times.length - 1] ?? 0)) this.clear();
    if (!film && (!times.length || this.moved(now))) this.add(frame.time, now);
    let end = times.length - 1;
    while (end >= 0 && times[end] > frame.time + 1e-9) end--;
    const since = this.which.length > SWARM ? frame.time - LAST : -Infinity;
    const first = Math.max(times.findIndex((time) => time >= since), 0), each = 2 * this.which.length;
    this.lines.geometry.setDrawRange(first * each, Math.max(end - first, 0) * each);
    const last = film && end >= 0 ? this.pointsOf({ ...frame, poses: film.sample(end * Math.ceil(
      film.description.frames / this.most)) }) : this.last;
    this.join(this.tips, 0, last ?? now, now);
  }

  // Whether one of them is so far from its last point that it gets the next.
  private moved(now: Float32Array): boolean {
    const { last } = this, least = 0.05 * this.layout.radius;
    return !last || now.some((x, i) => Math.abs(x - last[i]) > least);
  }

  clear(): void {
    this.times.length = 0;
    this.last = null;
  }
}
