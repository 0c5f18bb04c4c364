// Films: time line, speeds, and what is known of a robot in a film.
import { POSE } from "./data";
import type { Film } from "./film";
import { byId, showPlaying, timeText } from "./page";
import type { Field, Panel } from "./panel";
import type { View } from "./view";

export const SPEEDS = [0.01, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16];

export class Player {
  playing = true;

  constructor(private readonly film: Film, private readonly view: View, private readonly panel: Panel) {
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
    if (this.view.selected < 0) return;
    this.panel.update({ time: film.time, fields: this.fieldsAt(film.time) }, false);
    this.panel.cursor(film.time);
  }

  // ---- a robot -----------------------------------------------------------------------------------

  private pose(index: number): Float32Array {
    const first = POSE * this.view.robots.list[this.view.selected].first;
    return this.film.sample(index).subarray(first, first + POSE);
  }

  private velocity(index: number): number[] {
    const last = this.film.description.frames - 1;
    const a = Math.max(index - 1, 0), b = Math.min(index + 1, last);
    const before = this.pose(a), after = this.pose(b);
    return [0, 1, 2].map((c) => (b > a ? (after[c] - before[c]) / ((b - a) * this.film.description.period) : 0));
  }

  private fieldsAt(time: number): Field[] {
    const index = Math.min(Math.round(time / this.film.description.period), this.film.description.frames - 1);
    const p = this.pose(index), velocity = this.velocity(index), [w, x, y, z] = p.subarray(3, 7);
    return [
      { name: "position", unit: "m", values: [...p.subarray(0, 3)] },
      { name: "velocity", unit: "m/s", values: velocity },
      { name: "speed", unit: "m/s", values: [Math.hypot(...velocity)] },
      { name: "roll", unit: "rad", values: [Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))] },
      { name: "pitch", unit: "rad", values: [Math.asin(Math.min(1, Math.max(-1, 2 * (w * y - z * x))))] },
      { name: "yaw", unit: "rad", values: [Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))] },
    ];
  }

  select(): void {
    const times: number[] = [], height: number[] = [], speed: number[] = [];
    for (let i = 0; i < this.film.description.frames; i++) {
      times.push(i * this.film.description.period);
      height.push(this.pose(i)[2]);
      speed.push(Math.hypot(...this.velocity(i)));
    }
    this.panel.history(times, new Map([["height m", height], ["speed m/s", speed]]), ["height m", "speed m/s"]);
  }
}
