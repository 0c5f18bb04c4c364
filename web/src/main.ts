// The page: a film that is in it, or, without one, the live run of the server that it came from.
import type { Frame } from "./data";
import { Controls } from "./controls";
import { Film } from "./film";
import { Live } from "./live";
import { byId, make, say } from "./page";
import { Panel } from "./panel";
import { Plots } from "./plots";
import { Player, SPEEDS } from "./player";
import type { Overlay } from "./overlays";
import { EVERY, Remote } from "./remote";
import { linkName, linksOf, Tree } from "./tree";
import { Video } from "./video";
import { View } from "./view";
import type { PageBox } from "./view";

const HOVERED = 3000; // links of all robots up to which their names follow the mouse
const SLOW = 0.08; // [s] of a picture from which pictures become simpler
const QUICK = 0.03; // [s] likewise, full again
const STILL = 0.25; // [s] without a change, after which a picture is drawn in full quality
const wanted = new URLSearchParams(location.hash.slice(1));

type Control = Player | Remote;

interface Option {
  key: string;
  text: string;
  on?: () => boolean;
  act: () => void;
}

class Page {
  readonly view: View;
  readonly control: Control;
  readonly plots: Plots;
  readonly panel: Panel;
  readonly tree: Tree;
  readonly video: Video;
  private readonly options: Option[];
  private readonly controls: Controls | null; // of programs
  private last: number | null = null;
  private readonly times: number[] = []; // of pictures
  private quality = 0;
  private patience = 3; // [1] quick measurements before pictures become fuller again
  private quick = 0;
  private drawn = -1;
  private still = 0; // [s] since the picture changed
  private fine = false; // the last picture has full quality
  firstPicture = 0; // [ms] after the page was asked for
  alone = false; // pictures are drawn when they are asked for

  constructor(readonly source: Film | Live) {
    const canvas = byId<HTMLCanvasElement>("view");
    this.video = new Video(canvas);
    const film = source instanceof Film ? source : null;
    const first = copy(source.frame());
    let last: Frame | null = null;
    if (film) {
      film.time = film.duration;
      last = copy(film.frame());
      film.time = 0;
    }
    this.view = new View(canvas, source, first, last, film?.joinedRobots() ?? new Set(), film?.largestForce() ?? 0);
    this.plots = new Plots(`mayfly-plots ${document.title}`, this.view.robots.list.length > 1);
    this.panel = new Panel(this.plots, (robot) => this.hint(robot));
    this.control = film ? new Player(film, this.view, this.panel, this.plots)
      : new Remote(source as Live, this.view, this.panel, this.plots);
    this.tree = new Tree(source.description, this.view.robots.list, (robot) => this.view.nameOf(robot),
      (robot, link) => this.select(robot, link));
    for (const robot of this.plots.robots) this.know(robot);
    this.options = this.makeOptions();
    this.view.drawn.onChange = () => this.changed();
    this.controls = source instanceof Live
      ? new Controls((slot, value) => source.send({ do: "control", slot, value })) : null;
    this.wire(canvas);
    this.facts();
    requestAnimationFrame((now) => this.tick(now));
  }

  private facts(): void {
    const { description } = this.source, several = description.of > description.robots;
    byId("facts").parentElement!.querySelector("h1")!.textContent = document.title;
    const parts = description.clouds.map((c) => `${c.points < c.of ? `${c.points} of ` : ""}${c.of} particles`);
    if (several) parts.push(`${description.robots} of ${description.of} robots`);
    else if (description.robots > 1) parts.push(`${description.robots} robots`);
    const { grid } = this.view.stage; // none over a texture of the ground
    if (!description.floor?.texture) parts.push(`grid ${grid >= 1 ? `${grid} m` : `${Math.round(1000 * grid)} mm`}`);
    parts.push("click a robot, press H for help");
    byId("facts").textContent = parts.join(" · ");
  }

  // ---- what can be switched ----------------------------------------------------------------------

  private makeOptions(): Option[] {
    const { view } = this, { stage } = view;
    let shadows = true, grid = true;
    const out: Option[] = [
      { key: "r", text: "view from the start", act: () => { view.home(); } },
      { key: "a", text: "view of all", act: () => { view.home(true); } },
      { key: "t", text: "view from above", act: () => stage.top() },
      ...this.overlayOptions(),
      { key: "n", text: "names", on: () => view.names, act: () => { view.names = !view.names; } },
      { key: "x", text: "axes of links", on: () => view.axes.lines.visible,
        act: () => { view.axes.lines.visible = !view.axes.lines.visible; } },
      { key: "l", text: "trails", on: () => view.trails.group.visible,
        act: () => { view.trails.group.visible = !view.trails.group.visible; view.trails.clear(); } },
      { key: "g", text: "grid", on: () => grid, act: () => { grid = !grid; stage.gridOn(grid); } },
      { key: "s", text: "shadows", on: () => shadows,
        act: () => { shadows = !shadows; stage.shadows(shadows); } },
      { key: "p", text: "save a picture", act: () => this.save() },
      { key: "o", text: "record a video", on: () => this.video.on, act: () => this.video.toggle() },
      { key: "u", text: "tree of the scene", on: () => this.tree.on, act: () => this.toggleTree() },
      { key: "h", text: "help", act: () => this.help() },
    ];
    const { control } = this;
    if (control instanceof Remote)
      out.unshift({ key: "d", text: "drag pushes robots (or: Ctrl and drag)", on: () => control.pushing,
        act: () => { control.pushing = !control.pushing; } },
      ...(control.can("keep") ? [{ key: ",", text: "keep this moment", act: () => control.keep() },
        { key: ".", text: "back to the kept moment", act: () => control.giveBack() }] : []),
      ...(control.can("every") ? [{ key: "e", get text() {
        return control.drawnEvery > 1 ? `draw every ${control.drawnEvery}th step` : "draw any step";
      }, act: () => control.every(EVERY[(EVERY.indexOf(control.drawnEvery) + 1) % EVERY.length]) }] : []));
    return out;
  }

  // Keys as in MuJoCo's viewer, except where they were taken.
  private overlayOptions(): Option[] {
    const { view, source } = this, { overlays } = view;
    const option = (key: string, text: string, what: Overlay): Option =>
      ({ key, text, on: () => overlays.on[what], act: () => overlays.toggle(what) });
    const out = [option("b", "center of mass (balance)", "masses"), option("i", "boxes of inertia", "inertia"),
      option("j", "axes of joints", "hinges"), option("k", "collision shapes", "collisions"),
      { ...option("v", "", "levels"), get text() { return `level of physics as color (${overlays.legend})`; } }];
    if (source instanceof Live)
      out.unshift({ ...option("c", "contacts and their forces", "contacts"), act: () => {
        overlays.toggle("contacts");
        source.contacts = overlays.on.contacts;
      } });
    if (view.ride.exists)
      out.unshift({ key: "q", text: "a robot's own cameras, one after another", on: () => view.ride.camera !== null,
        act: () => {
          view.ride.next(view.selected);
          if (view.ride.camera) say(`${view.nameOf(view.ride.robot)}: camera ${view.ride.camera.name}`);
        } });
    return out;
  }

  private menu(): void {
    const place = byId("options");
    place.replaceChildren(...this.options.map((option) => {
      const button = make("button", `${option.on ? (option.on() ? "☑ " : "☐ ") : ""}${option.text}`);
      button.append(make("kbd", option.key.toUpperCase()));
      button.onclick = () => {
        option.act();
        this.changed();
        this.menu();
      };
      return button;
    }));
  }

  private help(): void {
    const place = byId("help"), table = make("table");
    const rows = [["drag", "turn"], ["wheel, pinch", "nearer, farther"], ["right drag, Shift and drag", "move"],
      ["click a robot", "its link there, its values"], ["Esc", "let go of it"], ["Space", "pause, go on"],
      this.can("back") ? ["→ ←", "one step, one step back"] : ["→", "one step"],
      ["Backspace", "start again"], ["+ −", "faster, slower"], ["F", "follow"], ["[ ]", "previous, next robot"],
      ...(this.source.live ? [["Ctrl and drag", "push a robot"]] : []),
      ...(this.source.live && this.can("load") ? [["drop files, a folder", "load a robot or scene"]] : []),
      ...this.options.map((option) => [option.key.toUpperCase(), option.text]), ["M", "menu"]];
    for (const [key, text] of rows) {
      const row = table.insertRow();
      row.insertCell().append(make("b", key));
      row.insertCell().textContent = text;
    }
    const close = make("button", "close");
    close.onclick = () => { place.hidden = true; };
    place.replaceChildren(close, table);
    place.hidden = !place.hidden;
    place.scrollTop = 0;
    if (!place.hidden) close.focus();
  }

  private can(what: string): boolean {
    return !(this.control instanceof Remote) || this.control.can(what);
  }

  private save(): void {
    this.draw(0);
    const link = make("a");
    link.download = `${document.title.replace(/[^\w-]+/g, "_") || "mayfly"}.png`;
    link.href = this.view.stage.canvas.toDataURL("image/png");
    link.click();
  }

  select(robot: number, link = -1): void {
    const { view, control } = this, other = robot !== view.selected, cast = view.robots.list[robot]?.cast;
    const name = cast ? view.nameOf(robot) : "", own = cast ? linkName(cast, link) : "";
    view.selected = robot;
    view.overlays.select(robot, own ? link : -1);
    this.panel.open(robot, name, own ? link : -1, own);
    this.tree.at(robot, own ? link : -1);
    this.narrow();
    if (robot >= 0 && control instanceof Player && other) control.select(robot, name);
    if (robot >= 0 && control instanceof Remote) {
      if (other) control.ask(robot);
      control.read();
    }
    this.changed();
  }

  // What robots consist of that are plotted, from the start on.
  private know(robot: number): void {
    if (robot >= this.view.robots.list.length) return;
    if (this.control instanceof Player) this.plots.about(robot, this.control.about(robot), "");
    else this.control.ask(robot);
  }

  private hint(robot: number): string {
    const cast = this.view.robots.list[robot]?.cast;
    if (!(this.control instanceof Remote) || !cast || linksOf(cast).length < 2) return "";
    return "Hold Ctrl and drag it to push: under articulated this link, else the base.";
  }

  // On a narrow page plots are in the panel.
  private narrow(): void {
    const plots = byId("plots"), panel = byId("robot"), narrow = innerWidth <= 560;
    if (plots.parentElement !== (narrow ? panel : byId("left")))
      narrow ? panel.insertBefore(plots, panel.lastElementChild) : byId("left").append(plots);
  }

  changed(): void { // what is shown, so that it is drawn again
    this.drawn = -1;
  }

  // ---- mouse and keys ----------------------------------------------------------------------------

  private wire(canvas: HTMLCanvasElement): void {
    const { view, control } = this;
    const speed = byId<HTMLSelectElement>("speed"), follow = byId<HTMLInputElement>("follow");
    for (const factor of this.source.live ? [...SPEEDS, 0] : SPEEDS)
      speed.add(new Option(factor ? `${factor} ×` : "max", String(factor), factor === 1, factor === 1));
    speed.onchange = () => { if (control instanceof Remote) control.speed(Number(speed.value)); };
    follow.onchange = () => { view.follow = follow.checked; };
    byId("play").onclick = () => control.play(!control.playing);
    byId("menu").onclick = () => this.toggleMenu();
    this.panel.onClose = () => this.select(-1);
    let down: [number, number] | null = null;
    canvas.addEventListener("pointerdown", (event) => { down = [event.clientX, event.clientY]; });
    canvas.addEventListener("pointerup", (event) => {
      const moved = down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 4;
      if (moved && (event.shiftKey || event.button === 2)) follow.checked = view.follow = false; // it was panned
      if (!down || moved || event.button !== 0) return;
      const hit = view.robots.pick(view.ray(event.clientX, event.clientY));
      this.select(hit?.robot ?? -1, hit?.link ?? -1);
    });
    if (control instanceof Remote) control.onGrab = (robot, link) => this.select(robot, link);
    byId("scene").onclick = () => this.toggleTree();
    this.hover(canvas);
    view.stage.controls.addEventListener("change", () => this.changed());
    addEventListener("resize", () => this.changed());
    addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("webglcontextlost", () => say("The graphics card gave up on this page: reload it.", true));
    this.changeSpeed = (way) => {
      speed.selectedIndex = Math.min(Math.max(speed.selectedIndex + way, 0), speed.options.length - 1);
      speed.dispatchEvent(new Event("change"));
    };
  }

  private changeSpeed: (way: number) => void = () => {};

  private toggleTree(): void {
    this.tree.toggle();
    byId("scene").setAttribute("aria-expanded", String(this.tree.on));
  }

  // The name of the link under the mouse.
  private hover(canvas: HTMLCanvasElement): void {
    const { view } = this, tip = byId("tip");
    if (view.robots.list.reduce((sum, { cast }) => sum + cast.links, 0) > HOVERED) return;
    let last = 0;
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons || event.pointerType === "touch") tip.hidden = true;
      else if (event.timeStamp - last > 80) {
        last = event.timeStamp;
        const hit = view.robots.pick(view.ray(event.clientX, event.clientY));
        tip.hidden = !hit;
        if (!hit) return;
        const { cast } = view.robots.list[hit.robot];
        tip.textContent = [view.nameOf(hit.robot), linkName(cast, hit.link)].filter((text) => text).join(" · ");
        tip.style.transform = `translate(${event.clientX + 14}px,${event.clientY + 14}px)`;
      }
    });
  }

  private toggleMenu(): void {
    const place = byId("options");
    this.menu();
    place.hidden = !place.hidden;
    byId("menu").setAttribute("aria-expanded", String(!place.hidden));
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement, { control, view } = this;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (["INPUT", "SELECT"].includes(target.tagName) && event.key !== "Escape") return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const robots = view.robots.list.length, step = (way: number): void =>
      this.select(robots ? (view.selected + way + robots) % robots : -1);
    const acts: Record<string, () => void> = {
      ArrowRight: () => control.step(1), ArrowLeft: () => control.step(-1), Backspace: () => control.restart(), "+": () => this.changeSpeed(1),
      "=": () => this.changeSpeed(1), "-": () => this.changeSpeed(-1), m: () => this.toggleMenu(),
      "[": () => step(-1), "]": () => step(1),
      f: () => byId("follow").click(),
      Escape: () => {
        byId("help").hidden = byId("options").hidden = true;
        view.ride.end();
        this.select(-1);
      },
    };
    if (target.tagName !== "BUTTON") acts[" "] = () => control.play(!control.playing);
    const act = acts[key] ?? this.options.find((option) => option.key === key)?.act;
    if (!act) return;
    event.preventDefault();
    act();
    this.changed();
  }

  // ---- pictures ----------------------------------------------------------------------------------

  boxes(): PageBox[] { // of robots on the page, for tests
    return this.view.boxes();
  }

  draw(passed: number): void {
    this.view.draw(this.source.frame(), passed);
    this.firstPicture ||= performance.now();
  }

  private tick(now: number): void {
    const real = this.last === null ? 0 : (now - this.last) / 1000, passed = Math.min(real, 0.25);
    this.last = now;
    if (this.alone) return;
    if (this.control instanceof Player) this.control.advance(passed, Number(byId<HTMLSelectElement>("speed").value));
    else this.control.advance(passed);
    const state = this.source instanceof Live ? this.source.frames : this.source.time;
    if (state !== this.drawn || this.follows()) {
      this.improve(false);
      this.draw(passed);
      this.drawn = state;
      this.measure(real);
      this.still = 0;
    } else if (!this.fine && (this.still += passed) > STILL) {
      this.improve(true);
      this.draw(0);
    }
    if (this.source instanceof Live) {
      this.controls?.update(this.source.controls);
      this.source.next();
    }
    requestAnimationFrame((then) => this.tick(then));
  }

  // Whether the camera is still on its way to what it follows.
  private follows(): boolean {
    const { view } = this, at = view.stage.controls.target.toArray(), goal = view.goal(this.source.frame());
    return view.follow && Math.hypot(...goal.map((x, c) => x - at[c])) > 1e-4 * view.stage.distance;
  }

  private improve(on: boolean): void {
    if (on !== this.fine) this.view.fine(on);
    this.fine = on;
  }

  private measure(passed: number): void {
    this.times.push(passed);
    const count = this.times.length;
    if (count < 12 && (count < 4 || this.times.reduce((a, b) => a + b) < 1)) return;
    const middle = this.times.slice(2).sort((a, b) => a - b)[Math.floor((count - 2) / 2)];
    this.times.length = 0;
    if (this.video.on) return; // a video keeps its size
    this.quick = middle < QUICK ? this.quick + 1 : 0;
    if (middle > SLOW && this.quality < 3) {
      this.view.stage.simplify(++this.quality);
      this.patience = Math.min(2 * this.patience, 48);
    } else if (this.quick >= this.patience && this.quality > 0) {
      this.view.stage.simplify(--this.quality);
      this.quick = 0;
    }
  }
}

function copy(frame: Frame): Frame {
  return { time: frame.time, poses: frame.poses.slice(), joints: frame.joints.slice(), rays: frame.rays.slice(),
    points: frame.points.slice(), levels: frame.levels.slice() };
}

function start(source: Film | Live): Page {
  const page = new Page(source);
  // #time=1.5 opens a film there, stopped; #bare leaves everything but the robots away, for pictures.
  if (wanted.has("bare"))
    for (const part of document.querySelectorAll<HTMLElement>("header,footer,nav,#labels,#folds")) part.hidden = true;
  if (wanted.has("time") && page.control instanceof Player) {
    page.control.play(false);
    page.control.seek(Number(wanted.get("time")) || 0);
    page.draw(0.2); // in which the camera catches up
  }
  Object.assign(window, { mayfly: page });
  return page;
}

async function open(): Promise<void> {
  if (!document.createElement("canvas").getContext("webgl2")) {
    say("This browser has no WebGL 2, so there is nothing to see: turn on its hardware or software graphics.", true);
    return;
  }
  if (document.getElementById("film")) {
    start(await Film.load());
    return;
  }
  const live = new Live();
  let page: Page | null = null, shown = "";
  live.onNote = say;
  live.onReading = (reading) => {
    page?.plots.take(reading);
    if (page && reading.robot === page.view.selected) page.panel.update(reading);
    page?.plots.draw();
  };
  live.onAbout = (about, robot) => {
    if (page && robot === page.view.selected) page.panel.take(about);
    page?.plots.about(robot, about, page.panel.motionOf(robot));
  };
  live.onScene = () => {
    const casts = live.description.casts.map((cast) => // each mesh once
      cast.like === undefined ? cast : { ...cast, meshes: [], textures: [] });
    const scene = JSON.stringify(casts) + live.description.clouds.length;
    if (page && scene !== shown) location.reload(); // another world
    shown = scene;
    page ??= start(live);
  };
  live.connect();
}

open().catch((error: Error) => say(error.message, true));
