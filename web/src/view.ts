// The picture of a source of frames: everything that is drawn, and what the mouse finds in it.
import * as THREE from "three";
import type { Frame, Source } from "./data";
import { Drawn } from "./drawn";
import { Labels } from "./labels";
import type { Label } from "./labels";
import { Layout } from "./layout";
import { Axes, Clouds, Joints, jointSummary, jointText, Rays, Trails } from "./marks";
import { byId, withoutCard } from "./page";
import { Overlays } from "./overlays";
import { Ride } from "./ride";
import { Robots } from "./robots";
import { Stage } from "./stage";

const FORCES = 8; // joints whose force is written
const NAMES = 60; // robots whose name is written

export class View {
  readonly robots: Robots;
  readonly layout: Layout;
  readonly stage: Stage;
  readonly axes = new Axes();
  readonly trails = new Trails();
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
  private readonly start: Frame;

  constructor(canvas: HTMLCanvasElement, readonly source: Source, first: Frame, last: Frame | null,
    joined: Set<number>, largestForce: number) {
    const { description } = source;
    this.start = first;
    const slow = withoutCard() && !location.hash.includes("bare"); // pictures for papers are fine ones
    document.body.classList.toggle("plain", slow);
    this.robots = new Robots(description, slow);
    this.layout = new Layout(description, this.robots.list, first, last, joined);
    this.stage = new Stage(canvas, description, this.layout, slow);
    this.overlays = new Overlays(description, this.robots, this.layout, slow);
    this.ride = new Ride(this.robots.list, this.layout);
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

  home(): void {
    this.stage.look(this.layout.middle(this.start), this.layout.azimuth(this.start), 0.32, this.layout.distance());
  }

  // [m] Where the camera wants to look: at the selected robot, or at all.
  goal(frame: Frame): number[] {
    if (this.selected < 0) return this.layout.middle(frame);
    const shift = this.layout.shift(this.selected);
    return this.layout.middleOf(this.selected, frame).map((x, c) => x + shift[c]);
  }

  draw(frame: Frame, passed: number): void {
    const { stage, layout } = this;
    stage.resize();
    const eye = stage.camera.position.clone(), way = stage.camera.quaternion.clone();
    this.ride.place(frame, stage.camera);
    if (this.follow && !this.ride.camera) {
      const goal = this.goal(frame);
      if (goal.every(Number.isFinite)) stage.follow(goal, Math.min(1, 6 * passed + 0.02));
    }
    stage.camera.updateMatrixWorld();
    this.overlays.take(frame);
    this.robots.update(frame, layout, stage.camera, stage.renderer.domElement.height, stage.light);
    const show = this.joints.update(frame, Math.max(0.03 * layout.radius, 0.004 * stage.distance));
    this.rays.update(frame, 0.0015 * stage.distance);
    this.clouds.update(frame, stage.camera, stage.renderer.domElement.height, stage.light);
    this.axes.update(frame, this.robots.list, layout);
    this.trails.update(frame, layout);
    this.overlays.update(frame, stage.camera, stage.renderer.domElement.height, stage.light, stage.distance);
    this.drawn.update(this.source.drawings(), frame, stage.camera, stage.renderer.domElement.height, stage.light,
      stage.distance);
    this.mark(frame);
    stage.render(!this.ride.camera);
    byId("held").textContent = this.source.description.joints && show.length ? jointSummary(show) : "";
    const labels: Label[] = show.slice(0, FORCES).map((joint) => ({
      at: joint.state > 2 ? joint.from : joint.from.clone().add(joint.to).multiplyScalar(0.5),
      text: jointText(joint),
    }));
    this.labels.update([...labels, ...(this.names ? this.nameLabels(frame) : [])], stage.camera, stage.canvas);
    if (!this.ride.camera) return;
    stage.camera.position.copy(eye); // where the controls left it
    stage.camera.quaternion.copy(way);
  }

  // A ring around the selected robot.
  private mark(frame: Frame): void {
    this.halo.visible = this.selected >= 0 && !this.ride.camera;
    if (!this.halo.visible) return;
    const at = this.goal(frame), radius = 0.8 * this.layout.radiusOf(this.selected, frame);
    const level = this.source.description.ground ? at[2] : this.source.description.level ?? 0;
    this.halo.position.set(at[0], at[1], Math.max(level + 0.01 * radius, Math.min(at[2], level + 2 * radius)));
    if (at[2] - level < 2 * radius) this.halo.position.z = level + 0.02 * radius;
    this.halo.scale.set(radius, radius, radius);
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
