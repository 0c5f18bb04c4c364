// What the first picture shows. A swarm is larger than a picture in which a robot can be seen, so it shows
// those that stand most densely: of all balls that a picture holds in which the robot in their middle is tall
// enough, the one with the most robots that are as tall; of equal ones that of the first group.
import * as THREE from "three";
import { isCloth, JOINT, POSE } from "./data";
import type { Description, Frame } from "./data";
import { HOLDS } from "./marks";
import type { Robots } from "./robots";

export const HALF = 20 * Math.PI / 180; // [rad] of the picture's height
export const ELEVATION = 0.32; // [rad]
const BESIDE = 0.04; // [rad] likewise, of what flies
const HIGH = 800; // [pixel] of the page that it is chosen for
const TALL = 75; // [pixel] of a robot on it, at least
const CENTERS = 300; // [1] robots that are tried
const FIRST = 1.15; // [1] how much more those of the first group count
const ONE_SHAPE = 0.1; // [1] how much a body of one shape counts
const MEASURED_ONCE = 300; // [1] robots of a kind from which one box is measured for all

// Robots that are joined, or particles: what stands alone.
export interface Unit {
  robots: number[]; // none: particles
  box: THREE.Box3; // [m]
  weight: number;
  first: boolean; // of the first group
}

const middleOf = (unit: Unit): THREE.Vector3 => unit.box.getCenter(new THREE.Vector3());

// [m] As tall as it is seen from where a picture is taken.
function tallOf({ box }: Unit): number {
  const size = box.getSize(new THREE.Vector3());
  return Math.cos(ELEVATION) * size.z + 0.7 * Math.sin(ELEVATION) * Math.hypot(size.x, size.y);
}

// [m] From where it is so tall on the page.
const farthest = (tall: number): number => HIGH * tall / (2 * Math.tan(HALF) * TALL);

// ---- units -------------------------------------------------------------------------------------

// The first robot of those that are joined to each.
function rootsOf(count: number, frame: Frame): number[] {
  const parent = Array.from({ length: count }, (_, r) => r);
  const root = (r: number): number => {
    while (parent[r] !== r) r = parent[r] = parent[parent[r]];
    return r;
  };
  for (let i = 0; i < frame.joints.length; i += JOINT) {
    const a = frame.joints[i + 9], b = frame.joints[i + 10];
    if (frame.joints[i + 7] !== HOLDS || a < 0 || b < 0) continue;
    const [low, high] = [root(a), root(b)].sort((x, y) => x - y);
    parent[high] = low;
  }
  return parent.map((_, r) => root(r));
}

function cloudUnits(description: Description, frame: Frame): Unit[] {
  let first = 0;
  return description.clouds.map(({ points, radius }) => {
    const box = new THREE.Box3(), at = new THREE.Vector3();
    for (const end = first + 3 * points; first < end; first += 3)
      if (Number.isFinite(at.fromArray(frame.points, first).x)) box.expandByPoint(at);
    if (!box.isEmpty()) box.expandByScalar(radius);
    return { robots: [], box, weight: 1, first: false };
  });
}

// The boxes of these robots; one of many that look alike has the shape of the first.
export function unitsOf(description: Description, robots: Robots, actors: number[], frame: Frame,
  shift: (r: number) => number[]): Unit[] {
  const roots = rootsOf(robots.list.length, frame), units = new Map<number, Unit>(), own = new THREE.Box3();
  const known = new Map<object, THREE.Box3>(), lead = robots.list[0]?.cast;
  for (const r of actors) {
    const { cast, first } = robots.list[r], [x, y, z] = frame.poses.subarray(POSE * first, POSE * first + 3);
    if (![x, y, z].every(Number.isFinite)) continue;
    const alike = cast.robots > MEASURED_ONCE ? known.get(cast) : undefined;
    const base = shift(r), at = new THREE.Vector3(x + base[0], y + base[1], z + base[2]);
    if (alike) own.copy(alike).translate(at);
    else {
      own.makeEmpty();
      robots.corners(r, frame, base, (corner) => own.expandByPoint(corner));
      if (cast.robots > MEASURED_ONCE) known.set(cast, own.clone().translate(at.negate()));
    }
    if (own.isEmpty()) continue;
    const unit = units.get(roots[r]) ?? { robots: [], box: new THREE.Box3(), weight: 0, first: false };
    units.set(roots[r], unit);
    unit.robots.push(r);
    unit.box.union(own);
    unit.weight += cast.shapes.filter((s) => s.link >= 0).length > 1 || isCloth(cast) ? 1 : ONE_SHAPE;
    unit.first ||= cast.name === lead?.name;
  }
  return [...units.values(), ...cloudUnits(description, frame).filter(({ box }) => !box.isEmpty())];
}

// ---- the densest -------------------------------------------------------------------------------

export function densest(units: Unit[]): Unit[] {
  const at = units.map(middleOf), tall = units.map(tallOf), every = Math.ceil(units.length / CENTERS);
  const near = (i: number): number[] => {
    const reach = 0.9 * Math.sin(HALF) * farthest(tall[i]);
    return [...units.keys()].filter((j) => j === i || at[i].distanceTo(at[j]) < reach);
  };
  const score = (i: number): number => near(i).reduce((sum, j) =>
    sum + units[j].weight * Math.min(1, tall[j] / tall[i]) ** 2, 0) * (units[i].first ? FIRST : 1);
  let best = -1, most = 0;
  for (let i = 0; i < units.length; i += every) {
    const now = score(i);
    if (now > 1.001 * most) [best, most] = [i, now];
  }
  return best < 0 ? [] : near(best).filter((j) => tall[j] > 0.25 * tall[best]).map((j) => units[j]);
}

// ---- from where --------------------------------------------------------------------------------

export interface Framing {
  at: THREE.Vector3;
  azimuth: number; // [rad]
  elevation: number; // [rad]
  distance: number; // [m]
}

// Unit vectors to the right, up, and to the eye.
function axesOf(azimuth: number, elevation: number): THREE.Vector3[] {
  const c = Math.cos(azimuth), s = Math.sin(azimuth), e = Math.cos(elevation), f = Math.sin(elevation);
  return [new THREE.Vector3(-s, c, 0), new THREE.Vector3(-c * f, -s * f, e), new THREE.Vector3(c * e, s * e, f)];
}

// [m] From where all boxes are in the picture; `wide` and `high` are tangents of its half angles.
function fit(units: Unit[], at: THREE.Vector3, [right, up, back]: THREE.Vector3[], wide: number, high: number): number {
  let out = 0;
  const corner = new THREE.Vector3();
  for (const { box: { min, max } } of units)
    for (let k = 0; k < 8; k++) {
      corner.set(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z).sub(at);
      out = Math.max(out, corner.dot(back)
        + Math.max(Math.abs(corner.dot(right)) / wide, Math.abs(corner.dot(up)) / high));
    }
  return out;
}

// How much of the others is seen behind `shown`; what is between counts against it.
function behind(others: THREE.Vector3[], framing: Framing, wide: number, high: number): number {
  const [right, up, back] = axesOf(framing.azimuth, framing.elevation), way = new THREE.Vector3();
  return others.reduce((sum, at) => {
    const depth = framing.distance - way.copy(at).sub(framing.at).dot(back);
    if (depth < 0.05 * framing.distance) return sum;
    const x = Math.abs(way.dot(right)) / depth, y = Math.abs(way.dot(up)) / depth;
    if (depth < 0.9 * framing.distance) return sum - (x < 0.6 * wide && y < 0.6 * high ? 4 : 0);
    return sum + (x < 0.9 * wide && y < 0.9 * high ? 1 : 0);
  }, 0);
}

// How long a box is across the picture, as a part of its diagonal.
function across(box: THREE.Box3, azimuth: number): number {
  const { x, y } = box.getSize(new THREE.Vector3());
  return (Math.abs(Math.sin(azimuth)) * x + Math.abs(Math.cos(azimuth)) * y) / (Math.hypot(x, y) || 1);
}

// Where to look at `shown` from: `azimuth`, unless more of all is seen from elsewhere, or hills are before it.
// What flies is also looked at from beside, above the `level` of the ground. `whole`: however small robots are then.
export function framingOf(shown: Unit[], all: Unit[], whole: boolean, azimuth: number, level: number, wide: number, high: number,
  blocked: (at: THREE.Vector3, eye: THREE.Vector3) => boolean): Framing {
  const box = shown.reduce((sum, unit) => sum.union(unit.box), new THREE.Box3());
  const at = box.getCenter(new THREE.Vector3()), few = Math.ceil(all.length / 500);
  const others = all.filter((unit, i) => i % few === 0 && !shown.includes(unit)).map(middleOf);
  const most = farthest(Math.max(...shown.map(tallOf))) * high / Math.tan(HALF);
  const seenFrom = (from: number, elevation: number): Framing => {
    const near = 1.02 * fit(shown, at, axesOf(from, elevation), 0.85 * wide, 0.74 * high);
    const distance = whole ? near : shown.length > 1 ? Math.min(near, most) : others.length ? Math.max(near, most) : near;
    return { at, azimuth: from, elevation, distance };
  };
  let best: Framing | null = null, score = -Infinity;
  for (const elevation of [ELEVATION, BESIDE, 0.55, 0.9]) {
    if (elevation > ELEVATION && best) break;
    for (let k = 0; k < (others.length ? 8 : 1) || (k < 8 && !best); k++) {
      const framing = seenFrom(azimuth + k * Math.PI / 4, elevation);
      const eye = at.clone().addScaledVector(axesOf(framing.azimuth, elevation)[2], framing.distance);
      if (blocked(at, eye) || (elevation === BESIDE && eye.z < level + 4 * framing.distance)) continue;
      const now = behind(others, framing, wide, high) + across(box, framing.azimuth) * others.length + (k === 0 && elevation === ELEVATION ? 0.1 * others.length : 0);
      if (now > score) [best, score] = [framing, now];
    }
  }
  return best ?? seenFrom(azimuth, 1.2);
}
