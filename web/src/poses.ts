// Poses of a film, which src/view/film_poses.c writes relative to parents and joints.
import { isCloth, POSE, posesOf } from "./data";
import type { Cast, Description } from "./data";

const METERS = 1 / 16384, RADIANS = 1 / 4096, ABSENT = 1 << 30;

const meters = (steps: number, size = METERS): number => (steps === ABSENT ? NaN : size * steps);

// c = a b, of quaternions.
function multiply(c: Float32Array, k: number, a: ArrayLike<number>, i: number, b: ArrayLike<number>, j: number): void {
  const aw = a[i], ax = a[i + 1], ay = a[i + 2], az = a[i + 3], bw = b[j], bx = b[j + 1], by = b[j + 2], bz = b[j + 3];
  c[k] = aw * bw - ax * bx - ay * by - az * bz;
  c[k + 1] = aw * bx + ax * bw + ay * bz - az * by;
  c[k + 2] = aw * by - ax * bz + ay * bw + az * bx;
  c[k + 3] = aw * bz + ax * by - ay * bx + az * bw;
}

// Moves the pose at i, which is relative to the one at p.
function toWorld(out: Float32Array, i: number, p: number, joint: number[]): void {
  const [x, y, z] = out.subarray(i, i + 3), own = out.slice(i + 3, i + 7), turn = new Float32Array(4);
  const w = out[p + 3], a = out[p + 4], b = out[p + 5], c = out[p + 6];
  const t = 2 * (b * z - c * y), u = 2 * (c * x - a * z), v = 2 * (a * y - b * x);
  out[i] = out[p] + x + w * t + b * v - c * u;
  out[i + 1] = out[p + 1] + y + w * u + c * t - a * v;
  out[i + 2] = out[p + 2] + z + w * v + a * u - b * t;
  multiply(turn, 0, out, p + 3, joint, 0);
  multiply(out, i + 3, turn, 0, own, 0);
}

function readVertex(out: Float32Array, i: number, columns: Int32Array, at: number, frames: number): void {
  for (let c = 0; c < 3; c++) out[i + c] = meters(columns[at + c * frames]);
  out.set([1, columns[at + 3 * frames], 0, 0], i + 3);
}

function readPose(out: Float32Array, i: number, columns: Int32Array, at: number, frames: number,
  [size, radians] = [METERS, RADIANS]): void {
  for (let c = 0; c < 3; c++) out[i + c] = meters(columns[at + c * frames], size);
  const x = radians * columns[at + 3 * frames], y = radians * columns[at + 4 * frames];
  const z = radians * columns[at + 5 * frames], angle = Math.hypot(x, y, z);
  const part = angle > 1e-9 ? Math.sin(angle / 2) / angle : 0.5;
  out[i + 3] = Math.cos(angle / 2);
  out[i + 4] = part * x, out[i + 5] = part * y, out[i + 6] = part * z;
}

const columnsOf = (cast: Cast): number => (isCloth(cast) ? 4 : 6);

export const columnCount = (description: Description): number =>
  description.casts.reduce((sum, cast) => sum + cast.robots * cast.links * columnsOf(cast), 0);

// All samples, one after another, as they were before they were packed: relative to joints, or to the world.
export function posesFrom(columns: Int32Array, description: Description, relative: boolean): Float32Array {
  const { frames } = description, each = POSE * posesOf(description), out = new Float32Array(frames * each);
  let first = 0, at = 0;
  for (const cast of description.casts)
    for (let r = 0; r < cast.robots; r++, first += POSE * cast.links)
      for (let l = 0; l < cast.links; l++, at += columnsOf(cast) * frames) {
        const track = relative ? cast.tracks?.[l] : undefined;
        for (let s = 0; s < frames; s++) {
          const i = s * each + first + POSE * l;
          if (isCloth(cast)) readVertex(out, i, columns, at + s, frames);
          else readPose(out, i, columns, at + s, frames, cast.steps);
          if (track?.turn) toWorld(out, i, s * each + first + POSE * track.parent, track.turn);
        }
      }
  return out;
}
