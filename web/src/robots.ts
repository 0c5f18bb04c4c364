// The robots of a world: one instanced mesh for each link of each kind, so that thousands of robots
// are a few draw calls. Cloths are surfaces whose vertices move.
import * as THREE from "three";
import { bytes, isCloth, POSE, robotsOf } from "./data";
import type { Cast, Description, Frame, Robot } from "./data";
import type { Layout } from "./layout";
import { cssColor, linkGeometry, paint, tinted } from "./shapes";

interface Part {
  cast: Cast;
  link: number; // -1: fixed to the world
  first: number; // number of the cast's first robot
  mesh: THREE.InstancedMesh;
}

interface Surface {
  robot: number;
  mesh: THREE.Mesh;
  corners: Uint32Array;
}

export class Robots {
  readonly group = new THREE.Group();
  readonly list: Robot[];
  private readonly parts: Part[] = [];
  private readonly surfaces: Surface[] = [];
  private readonly firstPose: number[] = []; // of each cast
  private readonly material = new THREE.MeshStandardMaterial({
    vertexColors: true, roughness: 0.55, metalness: 0.05, side: THREE.DoubleSide,
  });

  constructor(description: Description) {
    this.list = robotsOf(description);
    let first = 0, pose = 0;
    for (const cast of description.casts) {
      this.firstPose.push(pose);
      if (isCloth(cast)) this.addCloths(cast, first);
      else for (let link = -1; link < cast.links; link++) this.addPart(cast, link, first);
      first += cast.robots;
      pose += cast.robots * cast.links;
    }
  }

  private addPart(cast: Cast, link: number, first: number): void {
    const geometry = linkGeometry(cast, link);
    if (!geometry) return;
    const mesh = new THREE.InstancedMesh(geometry, this.material, cast.robots);
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    mesh.castShadow = true;
    mesh.receiveShadow = cast.robots <= 200;
    mesh.frustumCulled = false;
    this.group.add(mesh);
    this.parts.push({ cast, link, first, mesh });
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

  update(frame: Frame, layout: Layout): void {
    for (const part of this.parts) this.place(part, frame.poses, layout);
    for (const surface of this.surfaces) this.drape(surface, frame.poses, layout);
  }

  private place(part: Part, poses: Float32Array, layout: Layout): void {
    const out = part.mesh.instanceMatrix.array as Float32Array, { cast, link } = part;
    for (let i = 0; i < cast.robots; i++) {
      const shift = layout.shift(part.first + i), m = 16 * i;
      if (link < 0) matrixOf(out, m, null, 0, shift);
      else matrixOf(out, m, poses, POSE * (this.list[part.first + i].first + link), shift);
    }
    part.mesh.instanceMatrix.needsUpdate = true;
    part.mesh.boundingSphere = null; // it is asked for again when the mouse looks for a robot
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

  // ---- the mouse ---------------------------------------------------------------------------------

  // The robot, link and point that a ray meets first.
  pick(ray: THREE.Raycaster): { robot: number; link: number; point: THREE.Vector3 } | null {
    const hits = ray.intersectObjects(this.group.children, false);
    for (const hit of hits) {
      const part = this.parts.find((p) => p.mesh === hit.object);
      if (part && part.link >= 0 && hit.instanceId !== undefined)
        return { robot: part.first + hit.instanceId, link: part.link, point: hit.point };
      const surface = this.surfaces.find((s) => s.mesh === hit.object);
      if (surface) return { robot: surface.robot, link: 0, point: hit.point };
    }
    return null;
  }

  shadows(on: boolean): void {
    for (const mesh of this.group.children) mesh.castShadow = on;
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
