// The picture of a source of frames: everything that is drawn, and what the mouse finds in it.
import * as THREE from "three";
import type { Frame, Source } from "./data";
import { Drawn } from "./drawn";
import { Labels } from "./labels";
import type { Label } from "./labels";
import { Film } from "./film";
import { ELEVATION } from "./focus";
import { Layout } from "./layout";
import { Axes, Clouds, isLoaded, Joints, jointSummary, jointText, Rays, Trails } from "./marks";
import { byId, withoutCard } from "./page";
import { Overlays } from "./overlays";
import { Ride } from "./ride";
import { Robots } from "./robots";
import { Stage } from "./stage";

export interface PageBox { // [pixel]
  name: string;
  left: number;
  top: number;
  wide: number;
  high: number;
}

const SEEN = 0.0825; // [1] of the page's height that a robot of the first picture is tall
const LEAST = 0.05; // [1] likewise, when robots have parted since
const FORCES = 8; // joints whose force is written
const NAMES = 60; // robots whose name is written

export class View {
  readonly robots: Robots;
  readonly layout: Layout;
  readonly stage: Stage;
  readonly axes = new Axes();
  readonly trails: Trails;
  readonly overlays: Overlays;
  readonly ride: Ride;
  readonly drawn: Drawn;
  follow = true;
  names = false;
  selected = -1; // robot
  private readonly joints: Joints;
  private readonly rays: Rays;
  private readonly clouds: Clouds;
  private readonly labels = new Labels(byId("labels"));
  private readonly rope = new THREE.Line(new THREE.BufferGeometry(),
    new THREE.LineBasicMaterial({ color: 0xff5a1f, depthTest: false, transparent: true }));
  private readonly halo: THREE.Mesh;
  private framed = { distance: 1, reach: 0, widest: 1 }; // [m] of the eye, [m] of robots, [1]
  private last: Frame | null = null; // in the last picture
  private wider = 1; // [1] farther away than then
  private chased: { robot: number; at: number[]; pace: number[] } | null = null; // [m], [m/s], in the last picture

  constructor(canvas: HTMLCanvasElement, readonly source: Source, first: Frame, last: Frame | null,
    joined: Set<number>, largestForce: number) {
    const { description } = source;
    const slow = withoutCard() && !location.hash.includes("bare"); // pictures for papers are fine ones
    document.body.classList.toggle("plain", slow);
    this.robots = new Robots(description, slow);
    this.layout = new Layout(description, this.robots, first, last, joined);
    this.stage = new Stage(canvas, description, this.layout, slow);
    this.overlays = new Overlays(description, this.robots, this.layout, slow);
    this.ride = new Ride(this.robots.list, this.layout);
    this.trails = new Trails(this.layout, source instanceof Film ? source : null);
    this.drawn = new Drawn(this.robots.list, this.layout);
    this.joints = new Joints(Math.max(description.joints, 1), largestForce);
    this.rays = new Rays(description.rays);
    this.clouds = new Clouds(description);
    this.halo = new THREE.Mesh(new THREE.TorusGeometry(1, 0.012, 6, 64),
      new THREE.MeshBasicMaterial({ color: 0xff5a1f, transparent: true, opacity: 0.85 }));
    this.halo.visible = this.rope.visible = this.rope.frustumCulled = false;
    this.rope.renderOrder = 7;
    this.stage.scene.add(this.robots.group, this.joints.group, this.rays.group, this.clouds.group, this.overlays.group,
      this.axes.lines, this.trails.group, this.halo, this.rope, this.drawn.group);
    this.stage.shadows(true);
    this.home();
  }

  // Where the robots stand most densely, or all of them.
  home(all = false): void {
    const { stage, layout, source: { description } } = this;
    stage.resize();
    const high = Math.tan(stage.camera.fov * Math.PI / 360), wide = high * stage.camera.aspect;
    const frame = this.source.frame(), framing = layout.framing(all, frame, wide, high,
      (at, eye) => !description.apart && stage.hides(at, eye));
    if (!framing) return stage.look([0, 0, 0], -0.9, ELEVATION, 3);
    let away = Math.max(framing.distance, 2 * layout.radius);
    for (let k = 0; k < 20; k++, away *= 0.9) { // what was measured of one robot need not hold of all like it
      stage.look(framing.at.toArray(), framing.azimuth, framing.elevation, away);
      stage.resize();
      const least = SEEN * stage.canvas.clientHeight, robots = layout.shownRobots;
      if (all || !robots.length || this.boxes(frame, robots).some(({ high: h }) => h > least)) break;
    }
    const tall = this.boxes(frame, layout.shownRobots).reduce((most, box) => Math.max(most, box.high), 0);
    this.framed = { distance: stage.distance, reach: layout.apart(frame),
      widest: Math.max(1, tall / (LEAST * stage.canvas.clientHeight)) };
    this.wider = 1;
    this.chased = null;
  }

  // [pixel] Where robots, or else particles, are on the page: boxes around them, of those before the eye.
  boxes(frame: Frame = this.last ?? this.source.frame(), which?: number[]): PageBox[] {
    const { stage, layout, source: { description } } = this, { canvas, camera } = stage, out: PageBox[] = [];
    camera.updateMatrixWorld();
    const boxOf = (name: string, walk: (use: (at: THREE.Vector3) => void) => void): void => {
      const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
      let before = true;
      walk((at) => {
        const seen = at.clone().project(camera);
        before &&= Math.abs(seen.z) < 1;
        [0.5 * (1 + seen.x) * canvas.clientWidth, 0.5 * (1 - seen.y) * canvas.clientHeight].forEach((x, c) => {
          low[c] = Math.min(low[c], x);
          high[c] = Math.max(high[c], x);
        });
      });
      if (before && low[0] <= high[0])
        out.push({ name, left: low[0], top: low[1], wide: high[0] - low[0], high: high[1] - low[1] });
    };
    for (const r of which ?? this.robots.list.keys())
      boxOf(this.nameOf(r), (use) => this.robots.corners(r, frame, layout.shift(r), use));
    if (which) return out;
    let first = 0;
    for (const { points } of description.clouds) {
      const from = first;
      first += 3 * points;
      boxOf("particles", (use) => {
        for (let i = from; i < first; i += 3)
          if (Number.isFinite(frame.points[i])) use(new THREE.Vector3().fromArray(frame.points, i));
      });
    }
    return out;
  }

  // [m] Where the camera wants to look: at the selected robot, or at all.
  goal(frame: Frame): number[] {
    if (this.selected < 0) return this.layout.middle(frame);
    const shift = this.layout.shift(this.selected);
    return this.layout.middleOf(this.selected, frame).map((x, c) => x + shift[c]);
  }

  // At its pace, so that what is fast does not run out of the picture; a leap is followed at once.
  private chase(frame: Frame, passed: number): void {
    const goal = this.goal(frame);
    if (!goal.every(Number.isFinite)) return;
    const { stage, chased } = this, { target } = stage.controls, part = Math.min(1, 6 * passed + 0.02);
    const way = chased?.robot === this.selected ? goal.map((x, c) => x - chased.at[c]) : null;
    const leap = way !== null && Math.hypot(...way) > stage.distance;
    if (leap) stage.follow(goal, 1);
    const pace = way && !leap ? chased!.pace : [0, 0, 0];
    if (passed > 0) {
      if (way && !leap) way.forEach((x, c) => { pace[c] += (x / passed - pace[c]) * Math.min(1, 3 * passed); });
      stage.follow(target.toArray().map((x, c) => x + pace[c] * passed), 1);
      this.chased = { robot: this.selected, at: goal, pace };
    }
    stage.follow(goal, part);
    if (this.selected < 0) this.widen(frame, part);
  }

  // Robots that part stay in the picture, as long as they are not too small in it.
  private widen(frame: Frame, part: number): void {
    const { stage, framed, wider } = this, wide = Math.tan(stage.camera.fov * Math.PI / 360) * stage.camera.aspect;
    const now = this.layout.apart(frame) / Math.max(framed.reach, 0.7 * wide * framed.distance);
    this.wider += (Math.min(Math.max(now, 1), framed.widest) - wider) * part;
    if (Number.isFinite(this.wider)) stage.away(this.wider / wider);
    else this.wider = wider;
  }

  draw(frame: Frame, passed: number): void {
    this.last = frame;
    const { stage, layout } = this;
    stage.resize(this.ride.camera ? 0 : this.covered());
    const eye = stage.camera.position.clone(), way = stage.camera.quaternion.clone();
    this.ride.place(frame, stage.camera);
    if (this.follow && !this.ride.camera) this.chase(frame, passed);
    else this.chased = null;
    stage.camera.updateMatrixWorld();
    this.overlays.take(frame);
    this.robots.update(frame, layout, stage.camera, stage.renderer.domElement.height, stage.light);
    const followed = this.selected < 0 ? layout.followed : [this.selected];
    const radius = this.selected < 0 ? layout.apart(frame) + layout.radius : layout.radiusOf(this.selected, frame);
    this.robots.seeThrough(frame, followed, layout, stage.camera.position, this.goal(frame), radius);
    const show = this.joints.update(frame, Math.min(Math.max(0.02 * layout.radius, 0.002 * stage.distance), 0.005 * stage.distance));
    this.rays.update(frame, 0.0015 * stage.distance);
    this.clouds.update(frame, stage.camera, stage.renderer.domElement.height, stage.light);
    this.axes.update(frame, this.robots.list, layout);
    this.trails.update(frame);
    this.overlays.update(frame, stage.camera, stage.renderer.domElement.height, stage.light, stage.distance);
    this.drawn.update(this.source.drawings(), frame, stage.camera, stage.renderer.domElement.height, stage.light,
      stage.distance);
    this.mark(frame);
    stage.render(!this.ride.camera);
    byId("held").textContent = this.source.description.joints && show.length ? jointSummary(show) : "";
    // In the order of joints, which does not change from picture to picture as that of forces does.
    const loaded = show.filter((joint) => isLoaded(joint, show[0].force)).slice(0, FORCES);
    const labels: Label[] = loaded.sort((a, b) => a.index - b.index).map((joint) => ({
      at: joint.state > 2 ? joint.from : joint.from.clone().add(joint.to).multiplyScalar(0.5),
      text: jointText(joint),
    }));
    this.labels.update([...labels, ...(this.names ? this.nameLabels(frame) : [])], stage.camera, stage.canvas);
    if (!this.ride.camera) return;
    stage.camera.position.copy(eye); // where the controls left it
    stage.camera.quaternion.copy(way);
  }

  // [pixel] Of a narrow page the panel lies over the lower part.
  private covered(): number {
    const { canvas } = this.stage, panel = byId("robot");
    return panel.hidden || panel.offsetWidth < 0.8 * canvas.clientWidth ? 0
      : canvas.clientHeight - panel.getBoundingClientRect().top;
  }

  fine(on: boolean): void {
    this.robots.fine(on);
    this.stage.fine(on);
  }

  // A ring around the selected robot.
  private mark(frame: Frame): void {
    this.halo.visible = this.selected >= 0 && !this.ride.camera;
    if (!this.halo.visible) return;
    const at = this.goal(frame), radius = 0.8 * this.layout.radiusOf(this.selected, frame);
    const [x, y] = this.layout.shift(this.selected), { ground } = this.source.description;
    const below = this.stage.levelAt(at[0] - x, at[1] - y), level = Number.isFinite(below) ? below : at[2];
    this.halo.position.set(at[0], at[1], Math.max(level + 0.01 * radius, Math.min(at[2], level + 2 * radius)));
    if (at[2] - level < 2 * radius) this.halo.position.z = level + (ground ? 0.1 : 0.02) * radius;
    this.halo.scale.set(radius, radius, radius);
    this.halo.visible = radius < 3 * this.stage.distance; // none around all that is seen, as a field
  }

  private nameLabels(frame: Frame): Label[] {
    return this.robots.list.slice(0, NAMES).map((_, r) => {
      const at = this.layout.middleOf(r, frame), shift = this.layout.shift(r);
      return { at: new THREE.Vector3(at[0] + shift[0], at[1] + shift[1], at[2] + shift[2]), text: this.nameOf(r) };
    });
  }

  nameOf(r: number): string {
    const { cast, index } = this.robots.list[r];
    const several = cast.robots > 1 || (cast.first ?? 0) > 0;
    return several ? `${cast.name} ${index + (cast.first ?? 0)}` : cast.name;
  }

  // ---- the mouse ---------------------------------------------------------------------------------

  ray(x: number, y: number): THREE.Raycaster {
    const { canvas, camera } = this.stage, out = new THREE.Raycaster();
    const box = canvas.getBoundingClientRect();
    out.setFromCamera(new THREE.Vector2(2 * (x - box.left) / box.width - 1, 1 - 2 * (y - box.top) / box.height), camera);
    return out;
  }

  pull(from: THREE.Vector3 | null, to?: THREE.Vector3): void {
    this.rope.visible = from !== null;
    if (from && to) this.rope.geometry.setFromPoints([from, to]);
  }
}
