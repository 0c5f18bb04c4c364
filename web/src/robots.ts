// The robots of a world: one instanced mesh for each link of each kind, so that thousands of robots
// are a few draw calls. Of a crowd those that are small on the page, or more than the machine can draw, are
// a dot for each link. Cloths are surfaces whose vertices move.
import * as THREE from "three";
import { bytes, isCloth, POSE, robotsOf } from "./data";
import type { Cast, Description, Frame, Robot } from "./data";
import { Discs } from "./discs";
import { Glass } from "./glass";
import type { Layout } from "./layout";
import { cssColor, farColor, linkGeometries, paint, tinted } from "./shapes";
import { textured } from "./texture";

const CROWD = 300; // robots of a kind from which they cast no shadows and may be dots
const DOT = 5; // [pixel] radius below which they are
const CORNERS = 4e6, CORNERS_SLOW = 5e4; // [1] of all robots that are drawn whole, with and without a graphics card
const CORNERS_STILL = 1e6; // [1] likewise without one, in a picture that stays

const LOOK = { vertexColors: true, side: THREE.DoubleSide }, SHEEN = { roughness: 0.5, metalness: 0.05 };

interface Part {
  kind: Kind;
  link: number; // -1: fixed to the world
  mesh: THREE.InstancedMesh;
  material: THREE.Material; // its own look
  first: boolean; // of the link
  middle: THREE.Vector3; // of its shapes, own axes
  dots: Discs | null; // of robots that are not drawn whole
}

// Robots that look alike.
interface Kind {
  cast: Cast;
  first: number; // number of its first robot
  near: Uint32Array; // robots of the cast that are drawn whole, and how many
  far: Uint32Array; // and as dots
  nearCount: number;
  farCount: number;
  corners: number; // of a robot
  boxes: { link: number; box: THREE.Box3 }[]; // own axes
  most: number; // robots that may be drawn whole
  full: number; // likewise, in a picture of full quality
  crowd: boolean; // of which only some are
}

interface Surface {
  robot: number;
  mesh: THREE.Mesh;
  corners: Uint32Array;
}

export class Robots {
  readonly group = new THREE.Group();
  readonly list: Robot[];
  private readonly kinds: Kind[] = [];
  private readonly byCast = new Map<Cast, Kind>();
  private readonly parts: Part[] = [];
  private readonly surfaces: Surface[] = [];
  private readonly material: THREE.Material;
  private readonly plain: THREE.MeshStandardMaterial | THREE.MeshLambertMaterial;
  private readonly single = new THREE.MeshLambertMaterial({ side: THREE.DoubleSide }); // of a robot's color
  private polished: THREE.Material | null = null; // the plain look, in full quality
  private full = false;
  private color: ((robot: number) => THREE.Color) | null = null;
  private readonly glass = new Glass();
  private readonly squares: Float32Array; // [m^2] distances, of one kind at a time

  // With a material of its own robots are a veil over others: they throw no shadows and are no dots.
  constructor(description: Description, slow: boolean, private readonly veil: THREE.Material | null = null) {
    this.plain = slow ? new THREE.MeshLambertMaterial(LOOK) : new THREE.MeshStandardMaterial({ ...LOOK, ...SHEEN });
    this.material = veil ?? this.plain;
    this.list = robotsOf(description);
    this.squares = new Float32Array(description.casts.reduce((most, cast) => Math.max(most, cast.robots), 0));
    let first = 0;
    for (const cast of description.casts) {
      if (isCloth(cast)) this.addCloths(cast, first);
      else this.addKind(cast, first);
      first += cast.robots;
    }
    this.share(slow ? CORNERS_SLOW : CORNERS, slow ? CORNERS_STILL : CORNERS);
  }

  // Full quality, for a picture that stays: with a sheen, and more robots whole, with shadows.
  fine(on: boolean): void {
    this.full = on;
    this.polished ??= new THREE.MeshStandardMaterial({ ...LOOK, ...SHEEN });
    for (const part of this.parts) {
      const { mesh, kind, material } = part;
      mesh.castShadow = mesh.receiveShadow = !this.veil && (on || !kind.crowd);
      if (!this.color && material === this.plain) mesh.material = on ? this.polished : material;
    }
  }

  // Each kind gets its part of the corners that the machine can draw.
  private share(most: number, full: number): void {
    const all = this.kinds.reduce((sum, kind) => sum + kind.cast.robots * kind.corners, 0);
    for (const kind of this.kinds) {
      if (all > most) kind.most = Math.max(8, Math.floor(kind.cast.robots * most / all));
      if (all > full) kind.full = Math.max(8, Math.floor(kind.cast.robots * full / all));
      kind.crowd = kind.cast.robots > Math.min(CROWD, kind.most);
    }
    for (const part of this.parts) {
      const { mesh, kind } = part;
      mesh.castShadow = mesh.receiveShadow = !kind.crowd && !this.veil;
      if (part.link < 0 || !kind.crowd || !part.first) continue;
      const box = mesh.geometry.boundingBox!, size = box.getSize(new THREE.Vector3());
      part.dots = new Discs(kind.cast.robots, 0.45 * Math.cbrt(size.x * size.y * size.z), farColor(kind.cast, part.link));
      if (!this.veil) this.group.add(part.dots.points);
    }
  }

  private addKind(cast: Cast, first: number): void {
    const kind: Kind = { cast, first, near: Uint32Array.from({ length: cast.robots }, (_, i) => i),
      far: new Uint32Array(cast.robots), nearCount: cast.robots, farCount: 0, corners: 0, boxes: [],
      most: cast.robots, full: cast.robots, crowd: false };
    this.kinds.push(kind);
    this.byCast.set(cast, kind);
    const looks = new Map<number, THREE.Material>(); // by texture
    for (let link = -1; link < cast.links; link++)
      linkGeometries(cast, link).forEach(({ geometry, texture }, index) => {
        const material = this.lookOf(cast, texture, looks), middle = new THREE.Vector3();
        geometry.computeBoundingBox();
        geometry.boundingBox!.getCenter(middle);
        if (link >= 0) {
          kind.corners += geometry.getAttribute("position").count;
          kind.boxes.push({ link, box: geometry.boundingBox! });
        }
        const mesh = this.instanced(geometry, cast, material);
        if (!this.veil && (link < 0 || cast.scenery)) this.glass.add(mesh);
        this.parts.push({ kind, link, mesh, material, first: index === 0, middle, dots: null });
      });
  }

  private lookOf(cast: Cast, texture: number | undefined, looks: Map<number, THREE.Material>): THREE.Material {
    const data = texture === undefined ? null : cast.textures?.[texture];
    if (this.veil || texture === undefined || !data?.png) return this.material;
    const known = looks.get(texture) ?? textured(this.plain, data);
    looks.set(texture, known);
    return known;
  }

  private instanced(geometry: THREE.BufferGeometry, cast: Cast, material: THREE.Material): THREE.InstancedMesh {
    const mesh = new THREE.InstancedMesh(geometry, material, cast.robots);
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    mesh.frustumCulled = false;
    this.group.add(mesh);
    return mesh;
  }

  private addCloths(cast: Cast, first: number): void {
    const shape = cast.shapes[0], corners = new Uint32Array(bytes(shape.triangles ?? ""));
    const color = paint(tinted(shape.color, cssColor(cast.color)));
    for (let i = 0; i < cast.robots; i++) {
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * cast.links), 3));
      geometry.setIndex(new THREE.BufferAttribute(corners.slice(), 1));
      const material = new THREE.MeshStandardMaterial({ color, roughness: 0.8, side: THREE.DoubleSide });
      const mesh = new THREE.Mesh(geometry, material);
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      this.group.add(mesh);
      this.surfaces.push({ robot: first + i, mesh, corners });
    }
  }

  // ---- each picture ------------------------------------------------------------------------------

  update(frame: Frame, layout: Layout, camera: THREE.PerspectiveCamera, high: number, light: THREE.Vector3): void {
    for (const kind of this.kinds) if (kind.crowd) this.sort(kind, frame, layout, camera, high);
    for (const part of this.parts) {
      this.place(part, frame.poses, layout);
      if (part.dots) this.dot(part, part.dots, frame.poses, layout, camera, high, light);
    }
    for (const surface of this.surfaces) this.drape(surface, frame.poses, layout);
  }

  // Walls between the camera and what it follows, the robots of these numbers within a sphere, are seen through.
  seeThrough(frame: Frame, which: number[], layout: Layout, eye: THREE.Vector3, middle: number[], radius: number): void {
    const alone = which.length === 1 ? this.list[which[0]] : null;
    this.glass.update(eye, middle, radius, alone ? alone.cast.links : which.length, (i, out) => {
      const r = alone ? which[0] : which[i];
      if (alone) out.fromArray(frame.poses, POSE * (alone.first + i));
      else out.fromArray(layout.middleOf(r, frame));
      out.add(new THREE.Vector3(...layout.shift(r)));
    });
  }

  // Who is near enough to be drawn whole.
  private sort(kind: Kind, frame: Frame, layout: Layout, camera: THREE.PerspectiveCamera, high: number): void {
    const { cast, first } = kind, eye = camera.position, { poses } = frame;
    const reach = layout.radiusOf(first, frame) * high / (2 * Math.tan(camera.fov * Math.PI / 360) * DOT);
    for (let i = 0; i < cast.robots; i++) {
      const p = POSE * this.list[first + i].first, shift = layout.shift(first + i);
      const x = poses[p] + shift[0] - eye.x, y = poses[p + 1] + shift[1] - eye.y, z = poses[p + 2] + shift[2] - eye.z;
      this.squares[i] = x * x + y * y + z * z;
    }
    const squares = this.squares.subarray(0, cast.robots), most = this.full ? kind.full : kind.most;
    const square = most < cast.robots ? Math.min(reach * reach, squares.slice().sort()[most]) : reach * reach;
    kind.nearCount = kind.farCount = 0;
    for (let i = 0; i < cast.robots; i++)
      if (squares[i] < square) kind.near[kind.nearCount++] = i;
      else kind.far[kind.farCount++] = i;
  }

  private dot(part: Part, dots: Discs, poses: Float32Array, layout: Layout, camera: THREE.PerspectiveCamera,
    high: number, light: THREE.Vector3): void {
    const { kind, middle: { x, y, z } } = part, out = dots.place.array as Float32Array;
    for (let i = 0; i < kind.farCount; i++) {
      const robot = kind.first + kind.far[i], shift = layout.shift(robot);
      const p = POSE * (this.list[robot].first + part.link);
      const w = poses[p + 3], a = poses[p + 4], b = poses[p + 5], c = poses[p + 6];
      const t = 2 * (b * z - c * y), u = 2 * (c * x - a * z), v = 2 * (a * y - b * x);
      out[3 * i] = poses[p] + shift[0] + x + w * t + b * v - c * u;
      out[3 * i + 1] = poses[p + 1] + shift[1] + y + w * u + c * t - a * v;
      out[3 * i + 2] = poses[p + 2] + shift[2] + z + w * v + a * u - b * t;
      if (this.color && dots.colors) this.color(robot).toArray(dots.colors.array, 3 * i);
    }
    dots.update(kind.farCount, camera, high, light);
  }

  private place(part: Part, poses: Float32Array, layout: Layout): void {
    const { kind, link, mesh } = part;
    if (link < 0) this.fill(mesh, kind, null, kind.cast.robots, link, poses, layout);
    else this.fill(mesh, kind, kind.near, kind.nearCount, link, poses, layout);
  }

  private fill(mesh: THREE.InstancedMesh, kind: Kind, which: Uint32Array | null, count: number, link: number,
    poses: Float32Array, layout: Layout): void {
    const out = mesh.instanceMatrix.array as Float32Array;
    for (let i = 0; i < count; i++) {
      const robot = kind.first + (which ? which[i] : i), shift = layout.shift(robot);
      if (link < 0) matrixOf(out, 16 * i, null, 0, shift);
      else matrixOf(out, 16 * i, poses, POSE * (this.list[robot].first + link), shift);
      if (this.color && mesh.instanceColor) this.color(robot).toArray(mesh.instanceColor.array, 3 * i);
    }
    if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    mesh.count = count;
    mesh.visible = count > 0;
    mesh.instanceMatrix.clearUpdateRanges();
    mesh.instanceMatrix.addUpdateRange(0, 16 * count);
    mesh.instanceMatrix.needsUpdate = count > 0;
    mesh.boundingSphere = null; // it is asked for again when the mouse looks for a robot
  }

  // Vertices have no orientation: triangle t of n vertices is torn where the bit t / n of it is set.
  private drape(surface: Surface, poses: Float32Array, layout: Layout): void {
    const { mesh, corners, robot } = surface, { cast, first } = this.list[robot];
    const place = mesh.geometry.getAttribute("position"), index = mesh.geometry.getIndex();
    const shift = layout.shift(robot), from = POSE * first;
    for (let v = 0; v < cast.links; v++)
      place.setXYZ(v, poses[from + POSE * v] + shift[0], poses[from + POSE * v + 1] + shift[1],
        poses[from + POSE * v + 2] + shift[2]);
    let kept = 0;
    for (let t = 0; 3 * t < corners.length; t++) {
      const bits = poses[from + POSE * (t % cast.links) + 4];
      if ((bits / 2 ** Math.floor(t / cast.links)) & 1) continue;
      for (let k = 0; k < 3; k++) index?.setX(kept++, corners[3 * t + k]);
    }
    mesh.geometry.setDrawRange(0, kept);
    if (index) index.needsUpdate = true;
    place.needsUpdate = true;
    for (let i = kept; i < corners.length; i++) index?.setX(i, 0); // no part of the normals
    mesh.geometry.computeVertexNormals();
  }

  // The corners of the boxes around a robot's links, or a cloth's vertices, where they are in the world.
  corners(r: number, { poses }: Frame, shift: number[], use: (at: THREE.Vector3) => void): void {
    const { cast, first } = this.list[r], kind = this.byCast.get(cast), at = new THREE.Vector3();
    const base = new THREE.Vector3(...shift), turn = new THREE.Quaternion();
    for (let l = 0; !kind && l < cast.links; l++) use(at.fromArray(poses, POSE * (first + l)).add(base));
    for (const { link, box: { min, max } } of kind?.boxes ?? []) {
      const p = POSE * (first + link);
      turn.set(poses[p + 4], poses[p + 5], poses[p + 6], poses[p + 3]).normalize();
      for (let k = 0; k < 8; k++)
        use(at.set(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z).applyQuaternion(turn)
          .add(base).add(new THREE.Vector3().fromArray(poses, p)));
    }
  }

  // Each robot in one color, or in its own again.
  tint(color: ((robot: number) => THREE.Color) | null): void {
    this.color = color;
    for (const { mesh, dots, kind, link, material } of this.parts) {
      if (link < 0) continue;
      mesh.material = color ? this.single : material;
      mesh.instanceColor = color
        ? new THREE.InstancedBufferAttribute(new Float32Array(3 * kind.cast.robots), 3) : null;
      dots?.paint(color !== null);
    }
  }

  // ---- the mouse ---------------------------------------------------------------------------------

  // The robot, link and point that a ray meets first.
  pick(ray: THREE.Raycaster): { robot: number; link: number; point: THREE.Vector3 } | null {
    const seen = this.group.children.filter((mesh) => mesh.visible);
    ray.params.Points.threshold = this.parts.reduce((most, part) => Math.max(most, part.dots?.radius ?? 0), 0);
    for (const hit of ray.intersectObjects(seen, false)) {
      const part = this.parts.find((p) => p.mesh === hit.object), i = hit.instanceId ?? 0;
      if (part && part.link >= 0)
        return { robot: part.kind.first + part.kind.near[i], link: part.link, point: hit.point };
      const far = this.parts.find((p) => p.dots?.points === hit.object);
      if (far) return { robot: far.kind.first + far.kind.far[hit.index ?? 0], link: far.link, point: hit.point };
      const surface = this.surfaces.find((s) => s.mesh === hit.object);
      if (surface) return { robot: surface.robot, link: 0, point: hit.point };
    }
    return null;
  }
}

// A column-major matrix from a pose and a shift; without a pose only the shift.
function matrixOf(out: Float32Array, m: number, p: Float32Array | null, i: number, shift: number[]): void {
  let w = 1, x = 0, y = 0, z = 0, px = shift[0], py = shift[1], pz = shift[2];
  if (p) {
    px += p[i], py += p[i + 1], pz += p[i + 2];
    w = p[i + 3], x = p[i + 4], y = p[i + 5], z = p[i + 6];
    const scale = 1 / (Math.hypot(w, x, y, z) || 1);
    w *= scale, x *= scale, y *= scale, z *= scale;
  }
  out[m] = 1 - 2 * (y * y + z * z), out[m + 1] = 2 * (x * y + w * z), out[m + 2] = 2 * (x * z - w * y);
  out[m + 3] = 0;
  out[m + 4] = 2 * (x * y - w * z), out[m + 5] = 1 - 2 * (x * x + z * z), out[m + 6] = 2 * (y * z + w * x);
  out[m + 7] = 0;
  out[m + 8] = 2 * (x * z + w * y), out[m + 9] = 2 * (y * z - w * x), out[m + 10] = 1 - 2 * (x * x + y * y);
  out[m + 11] = 0;
  out[m + 12] = px, out[m + 13] = py, out[m + 14] = pz, out[m + 15] = 1;
}
