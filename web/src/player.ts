// Films: time line, speeds, and what is known of a robot in a film.
import { POSE } from "./data";
import type { Film } from "./film";
import { byId, showPlaying, timeText } from "./page";
import type { Panel } from "./panel";
import type { Plots } from "./plots";
import { contentsOf } from "./quantities";
import type { About, FieldInfo, Quantity, Reading } from "./quantities";
import { linksOf } from "./tree";
import type { View } from "./view";

export const SPEEDS = [0.01, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16];

export class Player {
  playing = true;

  constructor(private readonly film: Film, private readonly view: View, private readonly panel: Panel,
    private readonly plots: Plots) {
    const at = byId<HTMLInputElement>("at");
    at.max = String(film.duration);
    at.step = String(film.description.step ?? film.description.period);
    at.oninput = () => {
      this.play(false);
      film.time = Number(at.value);
    };
    byId("step").onclick = () => this.step(1);
    byId("back").onclick = () => this.step(-1);
    byId("back").className = "wide"; // a phone has the time line
    byId("restart").onclick = () => { film.time = 0; };
    this.play(true);
  }

  play(on: boolean): void {
    this.playing = on;
    showPlaying(on);
  }

  step(way: number): void {
    this.play(false);
    this.seek(this.film.time + way * this.film.description.period);
  }

  seek(time: number): void {
    this.film.time = Math.min(Math.max(time, 0), this.film.duration);
  }

  restart(): void {
    this.film.time = 0;
    this.play(true);
  }

  advance(passed: number, speed: number): void {
    const { film } = this;
    if (this.playing && film.duration > 0) film.time = (film.time + passed * speed) % film.duration;
    byId<HTMLInputElement>("at").value = String(film.time);
    byId("clock").textContent = timeText(film.time, film.description, ` / ${film.duration.toFixed(2)} s`);
    for (const robot of new Set([this.view.selected, ...this.plots.robots]))
      this.plots.history(robot, () => this.all(robot));
    this.plots.cursor(film.time);
    if (this.view.selected < 0) return;
    const { frames, period } = film.description;
    this.panel.update(this.reading(this.view.selected, Math.min(Math.round(film.time / period), frames - 1),
      [this.panel.requested.link]));
  }

  // ---- robots ------------------------------------------------------------------------------------

  private pose(robot: number, link: number, index: number): number[] {
    const first = POSE * (this.view.robots.list[robot].first + link);
    return [...this.film.sample(index).subarray(first, first + POSE)];
  }

  // From the pictures before and after.
  private velocity(robot: number, link: number, index: number): number[] {
    const { frames, period } = this.film.description, a = Math.max(index - 1, 0), b = Math.min(index + 1, frames - 1);
    const before = this.pose(robot, link, a), after = this.pose(robot, link, b), time = Math.max(b - a, 1) * period;
    const turn = times(after.slice(3), inverse(before.slice(3))), sign = turn[0] < 0 ? -1 : 1;
    const sine = Math.hypot(turn[1], turn[2], turn[3]), angle = 2 * Math.atan2(sine, Math.abs(turn[0]));
    return [...[0, 1, 2].map((c) => (after[c] - before[c]) / time),
      ...turn.slice(1).map((x) => (sine > 1e-12 ? sign * x / sine * angle / time : 0))];
  }

  // [rad] Of the joint that moves a link.
  private angle(robot: number, link: number, index: number): number {
    const { parent, turn, axis } = this.view.robots.list[robot].cast.tracks![link];
    const [w, ...v] = times(inverse(times(this.pose(robot, parent, index).slice(3), turn!)), this.pose(robot, link, index).slice(3));
    const angle = 2 * Math.atan2(v.reduce((sum, x, c) => sum + x * axis![c], 0), w);
    return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
  }

  private hinges(robot: number): number[] {
    return (this.view.robots.list[robot].cast.tracks ?? []).flatMap(({ hinge }, l) => (hinge ? [l] : []));
  }

  about(robot: number): About {
    const { cast } = this.view.robots.list[robot], links = linksOf(cast), hinges = this.hinges(robot);
    const field = (name: string, unit: string, count: number, text: string): FieldInfo =>
      ({ name, unit, frame: "world", text, input: false, width: count, count });
    return { group: cast.name, model: cast.name, mass: 0, gravity: 0,
      parts: { link: links.map(({ name, parent }, link) => ({ name, parent, link })),
        joint: hinges.map((link) => ({ name: cast.tracks![link].joint ?? "", link })) },
      fields: [field("base.position", "m", 3, "of the first link"), field("base.orientation", "1", 4, ""),
        field("base.linear_velocity", "m/s", 3, ""), field("base.speed", "m/s", 1, "size of the velocity"),
        { ...field("joint.angle", "rad", hinges.length, "from the poses of its links"), frame: "joint", width: 1, of: "joint",
          rows: hinges.map((_, i) => [i, 1, i]) }] };
  }

  private reading(robot: number, index: number, links: number[]): Reading {
    const pose = this.pose(robot, 0, index), velocity = this.velocity(robot, 0, index).slice(0, 3), [link] = links;
    const own = link >= 0 && link < this.view.robots.list[robot].cast.links ? this.pose(robot, link, index) : null;
    return { robot, time: index * this.film.description.period,
      link: own ? { number: link, position: own.slice(0, 3), rotation: own.slice(3), velocity: this.velocity(robot, link, index) }
        : undefined,
      fields: [{ name: "base.position", values: pose.slice(0, 3) }, { name: "base.orientation", values: pose.slice(3) },
        { name: "base.linear_velocity", values: velocity }, { name: "base.speed", values: [Math.hypot(...velocity)] },
        { name: "joint.angle", values: this.hinges(robot).map((l) => this.angle(robot, l, index)) }] };
  }

  // Of all pictures, with each link that is plotted in turn.
  private all(robot: number): Reading[] {
    const links = [...this.plots.requested(robot).links], out: Reading[] = [];
    for (let i = 0; i < this.film.description.frames; i++)
      for (const link of links.length ? links : [-1]) out.push(this.reading(robot, i, [link]));
    return out;
  }

  // Height and speed are plotted until the user chooses something else.
  select(robot: number, name: string): void {
    const about = this.about(robot), { all } = contentsOf(about, "");
    this.panel.take(about);
    this.plots.about(robot, about, "");
    const find = (key: string): Quantity => all.find((quantity) => quantity.key.startsWith(key))!;
    this.plots.suggest(robot, name, [[find("base.position"), 2], [find("base.speed"), 0]]);
  }
}

function times([aw, ax, ay, az]: number[], [bw, bx, by, bz]: number[]): number[] {
  return [aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw];
}

const inverse = ([w, x, y, z]: number[]): number[] => [w, -x, -y, -z];
