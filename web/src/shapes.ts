// Shapes as triangles, in the frame of their link and with their color at every corner.
import * as THREE from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import type { Cast, MeshData, Shape } from "./data";

const PLANE = 10; // [m] of a plane without end that is drawn
const SHARP = 0.75; // [1] cosine of the angle to the mean normal from which an edge is sharp

// Fewer corners for crowds: segments around, by the number of robots of a kind.
export const segmentsFor = (robots: number): number => (robots > 1000 ? 5 : robots > 100 ? 10 : 24);

// Normals of corners are shared across edges that are not sharp.
function meshGeometry(data: MeshData): THREE.BufferGeometry {
  const corners = data.corners ?? new Uint32Array();
  const places = Float32Array.from(data.places ?? [], (x, i) => data.lower[i % 3] + data.scale[i % 3] * x);
  const sums = new Float32Array(places.length), faces = new Float32Array(corners.length);
  const a = new THREE.Vector3(), b = new THREE.Vector3(), c = new THREE.Vector3();
  for (let i = 0; i < corners.length; i += 3) {
    a.fromArray(places, 3 * corners[i]);
    b.fromArray(places, 3 * corners[i + 1]).sub(a);
    c.fromArray(places, 3 * corners[i + 2]).sub(a);
    b.cross(c).toArray(faces, i);
    for (let k = 0; k < 9; k++) sums[3 * corners[i + Math.floor(k / 3)] + (k % 3)] += faces[i + (k % 3)];
  }
  const position = new Float32Array(3 * corners.length), normal = new Float32Array(3 * corners.length);
  for (let i = 0; i < corners.length; i++) {
    a.fromArray(faces, i - (i % 3)).normalize();
    b.fromArray(sums, 3 * corners[i]).normalize();
    (a.dot(b) > SHARP ? b : a).toArray(normal, 3 * i);
    position.set(places.subarray(3 * corners[i], 3 * corners[i] + 3), 3 * i);
  }
  const out = new THREE.BufferGeometry();
  out.setAttribute("position", new THREE.BufferAttribute(position, 3));
  out.setAttribute("normal", new THREE.BufferAttribute(normal, 3));
  out.setIndex([...corners.keys()]);
  if (data.spots && data.least && data.pace) {
    const { least, pace } = data;
    out.setAttribute("uv", new THREE.BufferAttribute(
      Float32Array.from(data.spots, (x, i) => least[i % 2] + pace[i % 2] * x), 2));
  }
  return out;
}

function basic(shape: Shape, meshes: (MeshData | null)[], segments: number): THREE.BufferGeometry {
  const [a, b] = shape.size, half = Math.max(4, Math.round(0.6 * segments));
  switch (shape.type) {
    case "sphere":
      return new THREE.SphereGeometry(a, segments, half);
    case "ellipsoid":
      return new THREE.SphereGeometry(1, segments, half).scale(a, b, shape.size[2]);
    case "capsule":
      return new THREE.CapsuleGeometry(a, b, Math.max(2, Math.round(segments / 4)), segments)
        .rotateX(Math.PI / 2);
    case "cylinder":
      return new THREE.CylinderGeometry(a, a, b, segments).rotateX(Math.PI / 2);
    case "box":
      return new THREE.BoxGeometry(a, b, shape.size[2]);
    case "plane":
      return new THREE.BoxGeometry(a || PLANE, b || PLANE, 0.002);
    case "mesh": {
      const data = meshes[shape.mesh ?? 0];
      return data ? meshGeometry(data) : new THREE.BufferGeometry();
    }
    default:
      return new THREE.BufferGeometry(); // cloths change in every picture
  }
}

// ---- colors of groups --------------------------------------------------------------------------

export function cssColor(name?: string): number[] | null {
  const pen = document.createElement("canvas").getContext("2d");
  if (!pen || !name) return null;
  pen.fillStyle = "#010203";
  pen.fillStyle = name;
  const found = pen.fillStyle;
  return found === "#010203" ? null
    : [1, 3, 5].map((i) => parseInt(found.slice(i, i + 2), 16) / 255);
}

// A group that is given a color has it where its shapes are colored at all.
export function tinted(color: number[], tint: number[] | null): number[] {
  const most = Math.max(...color);
  return !tint || most === 0 || Math.min(...color) > 0.6 * most ? color
    : tint.map((x) => most * (0.12 + 0.88 * x));
}

export const paint = (color: number[]): THREE.Color =>
  new THREE.Color().setRGB(color[0], color[1], color[2], THREE.SRGBColorSpace);

// ---- the shapes of a link ----------------------------------------------------------------------

// Where corners are on the shape's texture: "uv" of a flat one, "way" of a cube; neither: it has none.
function lay(out: THREE.BufferGeometry, shape: Shape, cast: Cast): void {
  const { factor, offset, half, stretch } = shape, place = out.getAttribute("position");
  const texture = shape.texture === undefined ? null : cast.textures?.[shape.texture];
  if (!texture || factor) out.deleteAttribute("uv");
  if (!texture || !factor || !offset) return;
  const width = texture.cube ? 3 : 2, values = new Float32Array(width * place.count);
  for (let i = 0; i < place.count; i++)
    for (let k = 0; k < width; k++) {
      const at = factor[k] * place.getComponent(i, k) + offset[k];
      const over = Math.abs(at) - (half ?? Infinity);
      values[width * i + k] = k === 2 && over > 0 ? Math.sign(at) * over * (stretch ?? 1) : at;
    }
  out.setAttribute(texture.cube ? "way" : "uv", new THREE.BufferAttribute(values, width));
}

function geometryOf(shape: Shape, cast: Cast, segments: number): THREE.BufferGeometry | null {
  const out = basic(shape, cast.meshes, segments);
  const count = out.getAttribute("position")?.count ?? 0;
  if (count === 0) return null;
  lay(out, shape, cast);
  const [w, x, y, z] = shape.turn;
  out.applyQuaternion(new THREE.Quaternion(x, y, z, w).normalize());
  out.translate(shape.place[0], shape.place[1], shape.place[2]);
  const color = paint(tinted(shape.color, cssColor(cast.color))), colors = new Float32Array(3 * count);
  for (let i = 0; i < count; i++) color.toArray(colors, 3 * i);
  out.setAttribute("color", new THREE.BufferAttribute(colors, 3));
  return out;
}

// All shapes of a link with the same texture in one.
export function linkGeometries(cast: Cast, link: number): { geometry: THREE.BufferGeometry; texture?: number }[] {
  const segments = segmentsFor(cast.robots), shapes = cast.shapes.filter((shape) => shape.link === link);
  return [...new Set(shapes.map((shape) => shape.texture))].flatMap((texture) => {
    const parts = shapes.filter((shape) => shape.texture === texture)
      .map((shape) => geometryOf(shape, cast, segments))
      .filter((part): part is THREE.BufferGeometry => part !== null);
    return parts.length ? [{ geometry: mergeGeometries(parts), texture }] : [];
  });
}

// The color of a link that is a few pixels large: that of its largest shape, rather than of gray ones.
export function farColor(cast: Cast, link: number): THREE.Color {
  const weight = (s: Shape): number => extentOf(s, cast) * (0.2 + Math.max(...s.color) - Math.min(...s.color));
  const main = cast.shapes.filter((shape) => shape.link === link)
    .reduce<Shape | null>((a, b) => (!a || weight(b) > weight(a) ? b : a), null);
  return paint(tinted(main?.color ?? [0.5, 0.5, 0.5], cssColor(cast.color)));
}

// [m] From a shape's own origin to its farthest point.
export function extentOf(shape: Shape, cast: Cast): number {
  const [a, b] = shape.size;
  switch (shape.type) {
    case "sphere":
      return a;
    case "capsule":
      return a + b / 2;
    case "cylinder":
      return Math.hypot(a, b / 2);
    case "ellipsoid":
      return Math.max(...shape.size);
    case "mesh": {
      const data = cast.meshes[shape.mesh ?? 0];
      return data ? Math.hypot(...data.lower.map((x, i) => Math.max(-x, x + 65535 * data.scale[i]))) : 0;
    }
    default:
      return 0.5 * Math.hypot(...shape.size);
  }
}
