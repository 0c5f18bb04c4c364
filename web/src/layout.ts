// Where robots stand and what there is to look at: who acts, who is scenery, how large it all is.
import type * as THREE from "three";
import { pointsOf, POSE } from "./data";
import type { Description, Frame, Robot } from "./data";
import { densest, framingOf, unitsOf } from "./focus";
import type { Framing, Unit } from "./focus";
import type { Robots } from "./robots";
import { extentOf } from "./shapes";

const turned = (p: Float32Array, i: number, v: number[]): number[] => {
  const [w, x, y, z] = p.subarray(i + 3, i + 7);
  const t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])];
  return [v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2],
    v[2] + w * t[2] + x * t[1] - y * t[0]];
};

const far = (a: number[], b: number[]): number => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

export class Layout {
  readonly actors: number[]; // robots that are looked at
  readonly robots: Robot[];
  radius: number; // [m] of the largest robot that is shown, or of the particles
  readonly reach: number; // [m] from the middle to the far end of what is joined
  readonly spread: number; // [m] from the middle to the farthest robot
  readonly height: number; // [m] of what the first picture shows, over a level ground
  readonly across: number; // robots in a row
  readonly gap: [number, number]; // [m] between robots that are put side by side
  private readonly shifts: number[][] = [];
  private readonly cloud: { at: number[]; radius: number } | null;
  private readonly shown: Unit[]; // in the first picture
  followed: number[] = []; // robots; none: what is looked at stays
  private offset = [0, 0, 0]; // [m] from their middle to what is looked at

  constructor(readonly description: Description, private readonly drawn: Robots, first: Frame, last: Frame | null,
    readonly joined: Set<number>) {
    const moves = (r: number): boolean =>
      joined.has(r) || (!this.robots[r].cast.scenery && (!last || !this.still(r, first, last)));
    this.robots = drawn.list;
    const everyone = [...this.robots.keys()];
    const moving = everyone.filter(moves);
    this.actors = moving.length ? moving : everyone;
    this.cloud = pointsOf(description) ? this.cloudOf(first) ?? (last && this.cloudOf(last)) : null;
    const hero = this.largest(this.actors);
    this.radius = hero < 0 ? 1e-3 : this.radiusOf(hero, first);
    this.across = Math.ceil(Math.sqrt(this.robots.length));
    this.gap = this.gapOf(description);
    for (const r of everyone) this.shifts.push(this.stand(r));
    this.shown = densest(this.unitsOf(first));
    this.height = description.ground ? 0
      : this.shown.reduce((least, { box }) => Math.min(least, box.min.z - (description.level ?? 0)), Infinity);
    if (!Number.isFinite(this.height)) this.height = 0;
    const seen = this.largest(this.shown.flatMap((unit) => unit.robots));
    const cloud = this.shown.some((unit) => unit.robots.length === 0) ? this.cloud?.radius ?? 0 : 0;
    if (!description.apart) this.radius = Math.max(seen < 0 ? 0 : this.radiusOf(seen, first), cloud, 1e-3);
    const middle = this.meanOf(this.actors, first) ?? this.cloud?.at ?? [0, 0, 0];
    this.spread = description.apart ? 0
      : this.actors.reduce((most, r) => Math.max(most, far(this.middleOf(r, first), middle)), 0);
    this.reach = [...joined].reduce((most, r) =>
      Math.max(most, far(this.middleOf(r, first), middle) + this.radiusOf(r, first)), 0);
  }

  private largest(which: number[]): number {
    const { robots } = this;
    return which.reduce((a, b) => (a < 0 || robots[b].cast.links > robots[a].cast.links ? b : a), -1);
  }

  // What stands still and has no joints is scenery.
  private still(r: number, a: Frame, b: Frame): boolean {
    const robot = this.robots[r];
    if (robot.cast.links !== 1) return false;
    for (let c = 0; c < POSE; c++)
      if (a.poses[POSE * robot.first + c] !== b.poses[POSE * robot.first + c]) return false;
    return true;
  }

  // Robots that each have a world of their own are put side by side.
  private stand(r: number): number[] {
    if (!this.description.apart) return [0, 0, 0];
    const down = Math.ceil(this.robots.length / this.across);
    return [this.gap[0] * (Math.floor(r / this.across) - (down - 1) / 2),
      this.gap[1] * ((r % this.across) - (this.across - 1) / 2), 0];
  }

  // Each has its own piece of hills.
  private gapOf({ ground }: Description): [number, number] {
    const least = 2.4 * this.radius;
    if (!ground) return [least, least];
    return [Math.max(least, 1.03 * (ground.columns - 1) * ground.step), Math.max(least, 1.03 * (ground.rows - 1) * ground.step)];
  }

  shift(r: number): number[] {
    return this.shifts[r];
  }

  middleOf(r: number, frame: Frame): number[] {
    const { cast, first } = this.robots[r], out = [0, 0, 0];
    for (let l = 0; l < cast.links; l++)
      for (let c = 0; c < 3; c++) out[c] += frame.poses[POSE * (first + l) + c] / cast.links;
    return out;
  }

  radiusOf(r: number, frame: Frame): number {
    const { cast, first } = this.robots[r], middle = this.middleOf(r, frame);
    let radius = 0.02;
    for (const shape of cast.shapes) {
      if (shape.link < 0) continue;
      const i = POSE * (first + shape.link), offset = turned(frame.poses, i, shape.place);
      const at = [0, 1, 2].map((c) => frame.poses[i + c] + offset[c]);
      radius = Math.max(radius, far(at, middle) + extentOf(shape, cast));
    }
    if (cast.shapes.length === 1 && cast.shapes[0].type === "cloth")
      for (let l = 0; l < cast.links; l++)
        radius = Math.max(radius, far([...frame.poses.subarray(POSE * (first + l), POSE * (first + l) + 3)], middle));
    return radius;
  }

  // The box of all particles; null: none is there yet.
  private cloudOf(frame: Frame): { at: number[]; radius: number } | null {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (let i = 0; i < frame.points.length; i++) {
      const x = frame.points[i], c = i % 3;
      if (x < low[c]) low[c] = x;
      if (x > high[c]) high[c] = x;
    }
    if (!(low[0] <= high[0])) return null;
    return { at: low.map((x, c) => 0.5 * (x + high[c])), radius: 0.5 * far(low, high) };
  }

  private meanOf(which: number[], frame: Frame): number[] | null {
    const out = [0, 0, 0];
    for (const r of which) {
      const at = this.middleOf(r, frame), shift = this.shifts[r];
      for (let c = 0; c < 3; c++) out[c] += (at[c] + shift[c]) / which.length;
    }
    return which.length ? out : null;
  }

  private placesOf(which: number[], frame: Frame): number[][] {
    return which.map((r) => this.middleOf(r, frame).map((x, c) => x + this.shifts[r][c]));
  }

  // Of each coordinate the median: one that leaves the others takes nothing along.
  private medianOf(which: number[], frame: Frame): number[] | null {
    const places = this.placesOf(which, frame), half = (places.length - 1) / 2;
    return places.length ? [0, 1, 2].map((c) => {
      const sorted = places.map((at) => at[c]).sort((a, b) => a - b);
      return (sorted[Math.floor(half)] + sorted[Math.ceil(half)]) / 2;
    }) : null;
  }

  // Where the camera looks while it follows what it was directed at.
  middle(frame: Frame): number[] {
    return (this.medianOf(this.followed, frame) ?? [0, 0, 0]).map((x, c) => x + this.offset[c]);
  }

  // [m] How far three quarters of those that are followed are from their middle, at most.
  apart(frame: Frame): number {
    const middle = this.medianOf(this.followed, frame);
    const ways = this.placesOf(this.followed, frame).map((at) => far(at, middle!)).sort((a, b) => a - b);
    return ways[Math.round(0.75 * (ways.length - 1))] ?? 0;
  }

  private unitsOf(frame: Frame): Unit[] {
    return unitsOf(this.description, this.drawn, this.actors, frame, (r) => this.shifts[r]);
  }

  // Looks at those of the first picture, or at all, and follows them from then on.
  framing(all: boolean, frame: Frame, wide: number, high: number,
    blocked: (at: THREE.Vector3, eye: THREE.Vector3) => boolean): Framing | null {
    const units = this.unitsOf(frame), first = new Set(this.shownRobots);
    const clouds = this.shown.some((unit) => unit.robots.length === 0);
    const some = units.filter(({ robots }) => (robots.length ? robots.some((r) => first.has(r)) : clouds));
    const shown = all || !some.length ? units : some;
    if (!shown.length) return null;
    const out = framingOf(shown, units, all, this.azimuth(frame), this.description.level ?? Infinity, wide, high, blocked);
    const still = shown.some((unit) => unit.robots.length === 0); // particles: what they are in stays
    this.followed = still ? [] : shown.flatMap((unit) => unit.robots);
    const middle = this.medianOf(this.followed, frame) ?? [0, 0, 0];
    this.offset = out.at.toArray().map((x, c) => x - middle[c]);
    return out;
  }

  get shownRobots(): number[] {
    return this.shown.flatMap((unit) => unit.robots);
  }

  // [rad] From the side onto two robots that are joined, so that neither is behind the other.
  azimuth(frame: Frame): number {
    if (this.joined.size < 2) return -0.9;
    const [a, b] = [...this.joined].slice(0, 2).map((r) => this.middleOf(r, frame));
    const along = Math.atan2(b[1] - a[1], b[0] - a[0]);
    return [-1.5, -0.5, 0.5, 1.5].map((k) => along + k * Math.PI)
      .reduce((best, x) => (Math.abs(x + 0.9) < Math.abs(best + 0.9) ? x : best));
  }
}
