// Controls of a live run: pause, step, speed, start again, readings, and pushing with the mouse.
import * as THREE from "three";
import { POSE } from "./data";
import type { Live } from "./live";
import { arrange, bundle, collect, robotsIn } from "./drop";
import type { Dropped } from "./drop";
import { byId, make, say, showPlaying, timeText } from "./page";
import type { Panel } from "./panel";
import type { Plots } from "./plots";
import type { View } from "./view";

const READ_SECONDS = 0.1; // between readings of robots
const LARGEST = 16 * 1024 * 1024; // bytes of a file alone
const MOST = 256 * 1024 * 1024; // of several
const KEPT = "mayfly-note"; // name of a line that is said after the page is loaded again
const ALONE = "Drop its folder, or it together with the files that it names.";
export const EVERY = [1, 10, 100, 1000]; // steps

interface Grip {
  robot: number;
  link: number;
  local: THREE.Vector3; // in the link's frame
  plane: THREE.Plane;
  to: THREE.Vector3;
}

export class Remote {
  pushing = false; // a drag on a robot pushes it without a key, too
  drawnEvery = 1; // steps
  onGrab = (_robot: number, _link: number): void => {};
  private grip: Grip | null = null;
  private since = 0;

  constructor(private readonly live: Live, private readonly view: View, private readonly panel: Panel,
    private readonly plots: Plots) {
    byId("at").hidden = true;
    byId("step").onclick = () => this.step(1);
    byId("back").onclick = () => this.step(-1);
    byId("back").hidden = !this.can("back");
    byId("restart").onclick = () => this.restart();
    panel.onSet = (field, component, value) => live.send({ do: "set", robot: view.selected, field, component, value });
    if (this.can("level"))
      panel.onLevel = (motion) => {
        live.send({ do: "level", robot: view.selected, motion });
        this.read();
      };
    panel.onAbout = (robot) => this.ask(robot);
    panel.onRead = () => this.read();
    this.dropping();
    say(sessionStorage.getItem(KEPT) ?? "");
    sessionStorage.removeItem(KEPT);
    const { canvas } = view.stage;
    canvas.addEventListener("pointerdown", (event) => this.grab(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.drag(event), { capture: true });
    for (const kind of ["pointerup", "pointercancel"] as const)
      canvas.addEventListener(kind, (event) => this.release(event), { capture: true });
  }

  can(what: string): boolean {
    return !this.live.lacks.includes(what);
  }

  get playing(): boolean {
    return !this.live.status.paused;
  }

  play(on: boolean): void {
    this.live.send({ do: on ? "run" : "pause" });
  }

  step(way: number): void {
    this.live.send(way > 0 ? { do: "step" } : { do: "back", steps: 1 });
  }

  restart(): void {
    this.live.send({ do: "reset" });
  }

  keep(): void { // this moment
    this.live.send({ do: "keep" });
  }

  giveBack(): void { // the kept moment
    this.live.send({ do: "return" });
  }

  speed(factor: number): void {
    this.live.send({ do: "speed", factor });
  }

  every(steps: number): void { // pictures are those after so many steps
    this.drawnEvery = steps;
    this.live.send({ do: "every", steps });
  }

  // ---- files that are dropped ---------------------------------------------------------------------

  private dropping(): void {
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      collect(event.dataTransfer).then((list) => this.take(list)).catch((error: Error) => say(error.message));
    });
  }

  // Loads the robot or scene among them, or asks which.
  async take(list: Dropped[]): Promise<void> {
    if (!this.can("load")) return say("The program that runs this world loads its robots: this page cannot.");
    if (list.length === 1) return this.load(list[0].file);
    const robots = await robotsIn(list), place = byId("help");
    if (robots.length === 0 && list.length > 0)
      return say("There is no robot (.urdf, .xml with <mujoco>) and no scene (.yaml with groups) among these files.");
    if (robots.length === 1) return this.loadAll(list, robots[0]);
    place.replaceChildren(make("p", "Which one?"), ...robots.map((robot) => {
      const button = make("button", robot.path);
      button.onclick = () => {
        place.hidden = true;
        void this.loadAll(list, robot);
      };
      return button;
    }));
    place.hidden = list.length === 0;
  }

  async load(file: File): Promise<void> {
    if (file.size > LARGEST) return say(`${file.name} is too large: expected at most 16 MiB`);
    return this.send("load", file.name, file);
  }

  private async loadAll(list: Dropped[], robot: Dropped): Promise<void> {
    const all = await arrange(list, robot), body = bundle(all.list);
    if (body.size > MOST) return say("These files are too large: expected at most 256 MiB");
    return this.send("load/files", all.main, body);
  }

  private async send(where: string, name: string, body: Blob): Promise<void> {
    say(`${name} ...`, true);
    try {
      const answer = await fetch(`/${where}?name=${encodeURIComponent(name)}`, { method: "POST", body });
      const text = await answer.text(), alone = where === "load" && /(mesh|texture|height field|file) '.*' not found/.test(text);
      const words = alone ? `${text}. ${ALONE}` : text;
      if (!answer.ok) return say(words);
      if (text !== "loaded") sessionStorage.setItem(KEPT, words); // said by the page of the new world
      location.reload();
    } catch {
      say(`${name} could not be sent: the simulation is not reachable`);
    }
  }

  // ---- each picture ------------------------------------------------------------------------------

  advance(passed: number): void {
    const { status } = this.live;
    showPlaying(!status.paused);
    const factor = status.factor >= 100 ? status.factor.toFixed(0) : status.factor.toPrecision(2);
    byId("clock").textContent = timeText(this.live.frame().time, this.live.description, " s")
      + (status.paused ? ", paused" : `, ${factor} × real time`);
    this.since += passed;
    if (this.since > READ_SECONDS) this.read();
    this.rope();
  }

  // What a robot consists of.
  ask(robot: number): void {
    this.live.send({ do: "about", robot });
  }

  // Asks for the values that are shown, of each robot with one message for each of its links that is.
  read(): void {
    const { selected } = this.view;
    this.since = 0;
    for (const robot of new Set([...this.plots.robots, ...(selected >= 0 ? [selected] : [])])) {
      const { fields, links } = this.plots.requested(robot), own = robot === selected ? this.panel.requested : null;
      if (own && own.link >= 0) links.add(own.link);
      const list = [...new Set([...fields, ...own?.fields ?? []])], [first, ...others] = [...links];
      this.live.send({ do: "read", robot, fields: list, ...(first === undefined ? {} : { link: first }) });
      for (const link of others) this.live.send({ do: "read", robot, fields: [], link });
    }
  }

  // ---- the mouse ---------------------------------------------------------------------------------

  private grab(event: PointerEvent): void {
    if (!(event.ctrlKey || event.metaKey || this.pushing) || event.button !== 0) return;
    const ray = this.view.ray(event.clientX, event.clientY), hit = this.view.robots.pick(ray);
    if (!hit) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    this.view.stage.canvas.setPointerCapture(event.pointerId);
    const normal = this.view.stage.camera.getWorldDirection(new THREE.Vector3());
    const { at, turn } = this.poseOf(hit.robot, hit.link);
    this.grip = { robot: hit.robot, link: hit.link, to: hit.point.clone(),
      local: hit.point.clone().sub(at).applyQuaternion(turn.invert()),
      plane: new THREE.Plane().setFromNormalAndCoplanarPoint(normal, hit.point) };
    this.onGrab(hit.robot, hit.link);
  }

  private drag(event: PointerEvent): void {
    if (!this.grip) return;
    event.stopImmediatePropagation();
    this.view.ray(event.clientX, event.clientY).ray.intersectPlane(this.grip.plane, this.grip.to);
    this.push(this.grip);
  }

  private push(grip: Grip): void {
    const shift = this.view.layout.shift(grip.robot);
    this.live.send({ do: "push", robot: grip.robot, link: grip.link, at: grip.local.toArray(),
      to: grip.to.toArray().map((x, c) => x - shift[c]) });
  }

  private release(event: PointerEvent): void {
    if (!this.grip) return;
    event.stopImmediatePropagation();
    this.grip = null;
    this.live.send({ do: "release" });
  }

  private poseOf(robot: number, link: number): { at: THREE.Vector3; turn: THREE.Quaternion } {
    const p = this.live.frame().poses, i = POSE * (this.view.robots.list[robot].first + link);
    const at = new THREE.Vector3().fromArray(p, i).add(new THREE.Vector3(...this.view.layout.shift(robot)));
    return { at, turn: new THREE.Quaternion(p[i + 4], p[i + 5], p[i + 6], p[i + 3]).normalize() };
  }

  private rope(): void {
    const { grip } = this;
    if (!grip) return this.view.pull(null);
    const { at, turn } = this.poseOf(grip.robot, grip.link);
    this.view.pull(grip.local.clone().applyQuaternion(turn).add(at), grip.to);
  }
}
