// What can be shown over robots: contacts, centers of mass, boxes of inertia, shapes that collide, axes of
// joints, and levels of physics as colors.
import * as THREE from "three";
import { CONTACT, POSE } from "./data";
import type { Body, Description, Frame } from "./data";
import type { Layout } from "./layout";
import { ballGeometry, dot, Pieces, rodGeometry, stretched } from "./marks";
import { Robots } from "./robots";
import { cssColor, linkGeometries, paint } from "./shapes";

const MOST = 4096; // marks of a kind

// What to call the colors of motions, which are those of colors.css by their names.
const LEVELS: Record<string, string> = { kinematic: "blue", points: "turquoise", rigid: "green", prescribed: "yellow",
  articulated: "orange", elastic: "violet", quasistatic: "pink" };

const COLORS = new Map<string, THREE.Color>();

function levelColor(motion = ""): THREE.Color {
  const name = `--${LEVELS[motion] ? motion : "soft"}`, style = getComputedStyle(document.documentElement);
  const found = COLORS.get(motion) ?? paint(cssColor(style.getPropertyValue(name).trim()) ?? [0.6, 0.6, 0.6]);
  COLORS.set(motion, found);
  return found;
}

interface Link {
  at: THREE.Vector3;
  turn: THREE.Quaternion;
}

// The box of equal mass and inertia: edges and axes. Eigenvectors by Jacobi's rotations.
export function inertiaBox(body: Body): { size: THREE.Vector3; turn: THREE.Quaternion } | null {
  const [xx, yy, zz, xy, xz, yz] = body.inertia, a = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
  const v = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  if (!(body.mass > 0)) return null;
  for (let sweep = 0; sweep < 20; sweep++)
    for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
      if (Math.abs(a[p][q]) < 1e-14 * (a[p][p] + a[q][q])) continue;
      const angle = 0.5 * Math.atan2(2 * a[p][q], a[q][q] - a[p][p]), c = Math.cos(angle), s = Math.sin(angle);
      for (let k = 0; k < 3; k++) [a[k][p], a[k][q]] = [c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]];
      for (let k = 0; k < 3; k++) [a[p][k], a[q][k]] = [c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]];
      for (let k = 0; k < 3; k++) [v[k][p], v[k][q]] = [c * v[k][p] - s * v[k][q], s * v[k][p] + c * v[k][q]];
    }
  const m = [a[0][0], a[1][1], a[2][2]], sum = m[0] + m[1] + m[2];
  const edges = m.map((i) => Math.sqrt(Math.max(0, (6 / body.mass) * (sum - 2 * i))));
  const axes = [0, 1, 2].map((i) => new THREE.Vector3(v[0][i], v[1][i], v[2][i]));
  if (axes[0].clone().cross(axes[1]).dot(axes[2]) < 0) axes[2].negate();
  const turn = new THREE.Quaternion().setFromRotationMatrix(new THREE.Matrix4().makeBasis(axes[0], axes[1], axes[2]));
  return { size: new THREE.Vector3(...edges), turn };
}

export type Overlay = "contacts" | "masses" | "inertia" | "collisions" | "hinges" | "levels";

export class Overlays {
  readonly group = new THREE.Group();
  readonly on: Record<Overlay, boolean> = { contacts: false, masses: false, inertia: false, collisions: false,
    hinges: false, levels: false };
  private readonly balls = this.pieces(ballGeometry(), 1);
  private readonly rods = this.pieces(rodGeometry(), 1);
  private readonly tips = this.pieces(new THREE.ConeGeometry(1, 1, 12).rotateX(Math.PI / 2), 1);
  private readonly boxes = this.pieces(new THREE.BoxGeometry(1, 1, 1), 0.55);
  private marked: { robot: number; link: number } | null = null;
  private readonly mark = new THREE.Group(); // the shapes of the link that is selected, over it
  private readonly glow = new THREE.MeshLambertMaterial({ color: 0x1fb6ff, emissive: 0x0b5f8a, transparent: true,
    opacity: 0.75, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2 });
  private readonly frames = new Map<Body, ReturnType<typeof inertiaBox>>();
  private collisions: Robots | null = null;
  private readonly levels: THREE.Color[] = []; // of robots, in the present frame
  private readonly seen = new Set<number>(); // numbers of motions
  private readonly switching: number[] = []; // robots, in the order of a frame's levels

  constructor(private readonly description: Description, private readonly robots: Robots,
    private readonly layout: Layout, private readonly slow: boolean) {
    this.group.add(this.mark);
    for (const cast of description.casts)
      for (const body of cast.bodies ?? []) this.frames.set(body, inertiaBox(body));
    robots.list.forEach(({ cast }, r) => {
      this.levels.push(levelColor(cast.motion));
      if (cast.switches) this.switching.push(r);
    });
  }

  private pieces(geometry: THREE.BufferGeometry, opacity: number): Pieces {
    const through = new THREE.MeshLambertMaterial({ depthTest: opacity < 1, transparent: true, opacity });
    const out = new Pieces(geometry, through, MOST);
    out.mesh.renderOrder = 6;
    this.group.add(out.mesh);
    return out;
  }

  toggle(what: Overlay): void {
    this.on[what] = !this.on[what];
    if (what === "levels") this.robots.tint(this.on.levels ? (robot) => this.levels[robot] : null);
    if (what !== "collisions") return;
    this.collisions ??= this.veil();
    this.collisions.group.visible = this.on.collisions;
  }

  // Which levels there are, and in what colors.
  get legend(): string {
    const { casts, motions: names } = this.description;
    const motions = new Set(casts.map((cast) => cast.motion ?? "").filter((name) => name));
    for (const number of this.seen) if (names?.[number]) motions.add(names[number]);
    return [...motions].map((name) => `${name} ${LEVELS[name] ?? "gray"}`).join(", ");
  }

  // The levels of a frame, before robots are drawn in it.
  take(frame: Frame): void {
    frame.levels.forEach((number, i) => {
      this.seen.add(number);
      if (this.on.levels) this.levels[this.switching[i]] = levelColor(this.description.motions?.[number]);
    });
  }

  private veil(): Robots {
    const casts = this.description.casts.map((cast) => ({ ...cast, shapes: cast.collisions ?? [] }));
    const out = new Robots({ ...this.description, casts }, this.slow, new THREE.MeshLambertMaterial({
      color: 0x2f7fe0, transparent: true, opacity: 0.5, depthWrite: false, polygonOffset: true,
      polygonOffsetFactor: -1, polygonOffsetUnits: -1 }));
    this.group.add(out.group);
    return out;
  }

  // Marks a link of a robot; -1: none.
  select(robot: number, link: number): void {
    if (this.marked?.robot === robot && this.marked.link === link) return;
    for (const child of this.mark.children) (child as THREE.Mesh).geometry.dispose();
    this.mark.clear();
    this.marked = robot >= 0 && link >= 0 ? { robot, link } : null;
    if (!this.marked) return;
    for (const { geometry } of linkGeometries(this.robots.list[robot].cast, link)) {
      const mesh = new THREE.Mesh(geometry, this.glow);
      mesh.frustumCulled = false;
      mesh.renderOrder = 5;
      this.mark.add(mesh);
    }
  }

  // ---- each picture ------------------------------------------------------------------------------

  update(frame: Frame, camera: THREE.PerspectiveCamera, high: number, light: THREE.Vector3, distance: number): void {
    const thick = Math.max(0.012 * this.layout.radius, 0.0015 * distance);
    if (this.marked) {
      const { at, turn } = this.link(frame, this.marked.robot, this.marked.link);
      this.mark.position.copy(at);
      this.mark.quaternion.copy(turn);
    }
    if (this.on.contacts) this.drawContacts(frame, thick);
    if (this.on.masses) this.drawMasses(frame, 3 * thick);
    if (this.on.inertia) this.drawInertia(frame);
    if (this.on.hinges) this.drawHinges(frame, thick);
    for (const pieces of [this.balls, this.rods, this.tips, this.boxes]) pieces.end();
    if (this.on.collisions) this.collisions?.update(frame, this.layout, camera, high, light);
  }

  private link(frame: Frame, robot: number, link: number): Link {
    const p = frame.poses, i = POSE * (this.robots.list[robot].first + link), [x, y, z] = this.layout.shift(robot);
    return { at: new THREE.Vector3(p[i] + x, p[i + 1] + y, p[i + 2] + z),
      turn: new THREE.Quaternion(p[i + 4], p[i + 5], p[i + 6], p[i + 3]).normalize() };
  }

  private arrow(from: THREE.Vector3, way: THREE.Vector3, thick: number, color: THREE.Color): void {
    const length = way.length();
    if (!(length > 1e-9)) return;
    const to = from.clone().add(way), tip = Math.min(6 * thick, 0.5 * length);
    const neck = to.clone().addScaledVector(way, -tip / length);
    this.rods.add(stretched(from, neck, thick), color);
    this.tips.add(stretched(neck, to, 2.2 * thick), color);
  }

  // A force as large as the weight of its robot is as long as half the robot.
  private drawContacts(frame: Frame, thick: number): void {
    const rows = frame.contacts ?? new Float32Array(0);
    const orange = paint([0.95, 0.6, 0.1]), green = paint([0.1, 0.65, 0.25]);
    for (let i = 0; i < rows.length; i += CONTACT) {
      const robot = rows[i + 6];
      if (!(robot >= 0)) continue;
      const at = new THREE.Vector3().fromArray(rows, i).add(new THREE.Vector3(...this.layout.shift(robot)));
      const mass = (this.robots.list[robot].cast.bodies ?? []).reduce((sum, body) => sum + body.mass, 0) || 1;
      const force = new THREE.Vector3().fromArray(rows, i + 3);
      this.balls.add(dot(at, 2.5 * thick), orange);
      this.arrow(at, force.multiplyScalar(this.layout.radius / (9.81 * mass)).clampLength(0, 4 * this.layout.radius),
        thick, green);
    }
  }

  private drawMasses(frame: Frame, size: number): void {
    const color = paint([0.95, 0.85, 0.1]);
    this.robots.list.forEach(({ cast }, r) => {
      const sum = new THREE.Vector3();
      let mass = 0;
      (cast.bodies ?? []).forEach((body, l) => {
        if (!(body.mass > 0)) return;
        const { at, turn } = this.link(frame, r, l);
        sum.addScaledVector(new THREE.Vector3(...body.center).applyQuaternion(turn).add(at), body.mass);
        mass += body.mass;
      });
      if (mass > 0) this.balls.add(dot(sum.divideScalar(mass), size), color);
    });
  }

  private drawInertia(frame: Frame): void {
    const color = paint([0.85, 0.3, 0.6]);
    this.robots.list.forEach(({ cast }, r) => (cast.bodies ?? []).forEach((body, l) => {
      const box = this.frames.get(body);
      if (!box) return;
      const { at, turn } = this.link(frame, r, l);
      const center = new THREE.Vector3(...body.center).applyQuaternion(turn).add(at);
      this.boxes.add(new THREE.Matrix4().compose(center, turn.multiply(box.turn), box.size), color);
    }));
  }

  private drawHinges(frame: Frame, thick: number): void {
    const color = paint([0.15, 0.35, 0.95]);
    this.robots.list.forEach(({ cast }, r) => (cast.tracks ?? []).forEach((track, l) => {
      if (!track.axis) return;
      const { at, turn } = this.link(frame, r, l);
      const way = new THREE.Vector3(...track.axis).applyQuaternion(turn).multiplyScalar(0.35 * this.layout.radius);
      this.arrow(at, way, thick, color);
    }));
  }
}
