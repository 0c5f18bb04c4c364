// What is drawn: the description of a world, written once by src/view/film_write.c for films and for
// live runs, and its frames. Positions in meters, world axes, z up; quaternions (w, x, y, z).

import type { Layers } from "./drawn";

export interface Shape {
  type: "sphere" | "ellipsoid" | "capsule" | "cylinder" | "box" | "plane" | "mesh" | "cloth";
  link: number; // -1: fixed to the world
  mesh?: number;
  place: number[];
  turn: number[];
  size: number[];
  color: number[];
  triangles?: string; // of a cloth
  texture?: number; // of the cast
  factor?: number[]; // a point x of its own axes has u, v or a cube's direction factor x + offset
  offset?: number[];
  half?: number; // of a capsule with a cube: from here on its caps, in a direction's third part
  stretch?: number;
}

export interface TextureData {
  cube: boolean; // six faces, one below the other: +x, -x, +y, -y, +z, -z
  png: string; // "": it cannot be read
}

// The ground in the look of a shape.
export interface Floor {
  color: number[];
  texture?: TextureData;
  rows?: number[]; // u and v of the world's x, y and 1
}

export interface MeshData {
  codes: number;
  vertices: number;
  triangles: number;
  packed: string; // see mesh.ts
  places?: Uint16Array; // of vertices, in steps of the mesh's box
  corners?: Uint32Array; // of triangles
  lower: number[];
  scale: number[];
  coordinates?: string; // packed as well: texture coordinates
  least?: number[];
  pace?: number[];
  spots?: Uint16Array; // two for each corner, in steps of `pace`
}

// How a link stands to its parent where its joint is at 0, and about what that turns it or moves it.
export interface Track {
  parent: number; // -1: none
  turn?: number[];
  axis?: number[]; // own axes
  joint?: string; // its name
  hinge?: boolean;
}

export interface Body {
  name?: string;
  mass: number; // [kg]
  center: number[]; // [m] own axes
  inertia: number[]; // [kg m^2] about it: xx, yy, zz, xy, xz, yz
}

export interface OwnCamera {
  name: string;
  link: number;
  place: number[]; // [m]
  turn: number[]; // x ahead, y left, z up
  height: number; // [rad] from edge to edge
  aspect: number;
  nearest: number; // [m]
}

// Robots that look alike.
export interface Cast {
  name: string;
  robots: number;
  links: number; // of each
  first?: number; // instance of the group of the first of them
  color?: string;
  scenery?: boolean; // cannot move
  shapes: Shape[];
  meshes: (MeshData | null)[];
  textures?: (TextureData | null)[];
  like?: number; // cast that has its meshes and textures
  tracks?: Track[]; // of each link
  steps?: [number, number]; // [m], [rad] of its poses in a film, where they are coarser
  motion?: string;
  switches?: boolean; // between motions, each for itself
  bodies?: Body[]; // of each link
  collisions?: Shape[];
  cameras?: OwnCamera[];
}

export interface Cloud {
  points: number; // shown
  of: number;
  radius: number; // [m]
  color: number[];
  tint?: string;
  fluid?: boolean;
}

export interface Ground {
  columns: number;
  rows: number;
  step: number; // [m]
  origin: number[]; // [m]
  heights: string;
}

export interface Description {
  robots: number; // shown
  of: number;
  frames: number; // 0: live
  period: number; // [s] between frames
  step?: number; // [s] of the world
  apart: boolean; // robots have worlds of their own and are put side by side
  joints: number; // most in a frame
  rays: number;
  levels?: number; // robots of casts that switch
  motions?: string[]; // by their numbers
  level?: number; // [m] of the ground, if it is flat
  ground?: Ground;
  floor?: Floor;
  casts: Cast[];
  clouds: Cloud[];
  low: number[];
  scale: number[];
}

export const POSE = 7; // position, orientation
export const JOINT = 11; // both anchors, force, state, load, both robots
export const RAY = 7; // both ends, 1: ends at something
export const CONTACT = 7; // point, force on the robot, the robot

export interface Frame {
  time: number; // [s]
  poses: Float32Array;
  joints: Float32Array;
  rays: Float32Array;
  points: Float32Array; // NaN: not in the world
  contacts?: Float32Array; // live, where they are wanted
  levels: Float32Array; // motions of the robots that switch, in their order
}

export interface Robot {
  cast: Cast;
  index: number; // of the cast
  first: number; // its first pose in a frame
}

export function bytes(text: string): ArrayBuffer {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
}

export function robotsOf(description: Description): Robot[] {
  const out: Robot[] = [];
  let first = 0;
  for (const cast of description.casts)
    for (let index = 0; index < cast.robots; index++, first += cast.links)
      out.push({ cast, index, first });
  return out;
}

export function posesOf(description: Description): number {
  return description.casts.reduce((sum, cast) => sum + cast.robots * cast.links, 0);
}

export function pointsOf(description: Description): number {
  return description.clouds.reduce((sum, cloud) => sum + cloud.points, 0);
}

export const isCloth = (cast: Cast): boolean =>
  cast.shapes.length === 1 && cast.shapes[0].type === "cloth";

// Where frames come from.
export interface Source {
  drawings(): Layers; // at the time of the frame
  readonly description: Description;
  readonly live: boolean;
  frame(): Frame; // the present one; belongs to the source
}
