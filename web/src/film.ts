// A film in the page: samples at equal intervals, with positions and orientations interpolated.
import { isCloth, JOINT, pointsOf, POSE, posesOf, RAY, robotsOf } from "./data";
import type { Description, Frame, Source } from "./data";
import { DrawnLog, readRecords } from "./drawn";
import type { Layers } from "./drawn";
import { unpackMeshes } from "./mesh";
import { inflate, unpack, unpackRows } from "./pack";
import { columnCount, posesFrom } from "./poses";

const text = (id: string): string => document.getElementById(id)?.textContent ?? "";

export class Film implements Source {
  readonly live = false;
  readonly description: Description;
  readonly duration: number; // [s]
  time = 0; // [s]
  private readonly now: Frame;
  private readonly posesEach: number;
  private readonly pointsEach: number;
  private readonly surfaces: [number, number][] = []; // poses that are vertices: first, end

  static async load(): Promise<Film> {
    const d = JSON.parse(text("film")) as Description, { frames } = d;
    await unpackMeshes(d);
    const relative = document.getElementById("poses") !== null;
    const poses = posesFrom(await unpack(text(relative ? "poses" : "places"), columnCount(d), frames), d, relative);
    return new Film(d, poses, await unpackRows(text("joints"), JOINT * d.joints, frames),
      await unpackRows(text("rays"), RAY * d.rays, frames), await unpack(text("points"), 3 * pointsOf(d), frames),
      await unpackRows(text("levels"), d.levels ?? 0, frames),
      new DrawnLog(text("drawn") ? readRecords(await inflate(text("drawn")), 0) : []));
  }

  private constructor(d: Description, private readonly poses: Float32Array, private readonly joints: Float32Array,
    private readonly rays: Float32Array, private readonly points: Int32Array,
    private readonly levels: Float32Array, private readonly log: DrawnLog) {
    this.description = d;
    this.posesEach = posesOf(d);
    this.pointsEach = pointsOf(d);
    this.duration = (d.frames - 1) * d.period;
    this.now = {
      time: 0,
      poses: new Float32Array(POSE * this.posesEach),
      joints: new Float32Array(JOINT * d.joints),
      rays: this.rays.subarray(0, RAY * d.rays),
      points: new Float32Array(3 * this.pointsEach),
      levels: this.levels.subarray(0, d.levels ?? 0),
    };
    for (const robot of robotsOf(d))
      if (isCloth(robot.cast)) this.surfaces.push([robot.first, robot.first + robot.cast.links]);
  }

  // Of the world, while it ran: what the page scales colors with.
  largestForce(): number {
    let most = 0;
    for (let i = 6; i < this.joints.length; i += JOINT) most = Math.max(most, this.joints[i]);
    return most;
  }

  // The robots that some joint holds in some sample.
  joinedRobots(): Set<number> {
    const out = new Set<number>();
    for (let i = 0; i < this.joints.length; i += JOINT)
      for (const side of [9, 10])
        if (this.joints[i + 7] !== 0 && this.joints[i + side] >= 0) out.add(this.joints[i + side]);
    return out;
  }

  sample(index: number): Float32Array {
    const size = POSE * this.posesEach;
    return this.poses.subarray(index * size, (index + 1) * size);
  }

  drawings(): Layers {
    return this.log.at(this.time);
  }

  frame(): Frame {
    const last = this.description.frames - 1;
    const at = Math.min(Math.max(this.time / this.description.period, 0), last);
    const before = Math.floor(at), after = Math.min(before + 1, last), part = at - before;
    this.now.time = this.time;
    this.mixPoses(before, after, part);
    this.mixJoints(before, after, part);
    this.mixPoints(before, after, part);
    const rays = RAY * this.description.rays, nearest = Math.round(at);
    this.now.rays = this.rays.subarray(nearest * rays, (nearest + 1) * rays);
    const levels = this.description.levels ?? 0; // they switch between two pictures: as in the first
    this.now.levels = this.levels.subarray(before * levels, (before + 1) * levels);
    return this.now;
  }

  private mixPoses(before: number, after: number, part: number): void {
    const a = this.sample(before), b = this.sample(after), out = this.now.poses;
    for (let i = 0; i < out.length; i += POSE) {
      let same = 0;
      for (let c = 3; c < POSE; c++) same += a[i + c] * b[i + c];
      const sign = same < 0 ? -part : part;
      for (let c = 0; c < 3; c++) out[i + c] = a[i + c] * (1 - part) + b[i + c] * part;
      for (let c = 3; c < POSE; c++) out[i + c] = a[i + c] * (1 - part) + b[i + c] * sign;
    }
    for (const [first, end] of this.surfaces) // torn triangles are bits, not orientations
      for (let i = first * POSE; i < end * POSE; i += POSE)
        for (let c = 3; c < POSE; c++) out[i + c] = a[i + c];
  }

  private mixJoints(before: number, after: number, part: number): void {
    const size = this.now.joints.length, out = this.now.joints;
    const a = this.joints.subarray(before * size, (before + 1) * size);
    const b = this.joints.subarray(after * size, (after + 1) * size);
    for (let i = 0; i < size; i++) {
      const row = i - (i % JOINT), kind = i % JOINT;
      const smooth = a[row + 7] === b[row + 7] && (kind < 7 || (kind === 8 && a[i] >= 0));
      out[i] = smooth ? a[i] * (1 - part) + b[i] * part : a[i];
    }
  }

  private mixPoints(before: number, after: number, part: number): void {
    const out = this.now.points, { low, scale, frames } = this.description;
    for (let i = 0; i < out.length; i++) {
      const a = this.points[i * frames + before], b = this.points[i * frames + after];
      out[i] = a === 65535 || b === 65535 ? NaN : low[i % 3] + scale[i % 3] * (a * (1 - part) + b * part);
    }
  }
}
