// Plots over time, one for each unit, of any quantities of any robots. They are the same after the page is
// loaded again.
import uPlot from "uplot";
import { byId, make } from "./page";
import { contentsOf, digits, numbersOf, ofLink, scaleOf, TURN, unitOf } from "./quantities";
import type { About, Quantity, Reading } from "./quantities";
import { store, stored } from "./store";

const KEEP = 1200; // readings of a trace
const MOST = 6; // traces of a plot
const COLORS = ["#e8590c", "#1c7ed6", "#2b8a3e", "#ae3ec9", "#f08c00", "#0c8599"];

interface Wish { // what is remembered of a trace
  robot: number;
  name: string; // of the robot
  key: string;
  part: number; // number of the quantity's
}

interface Trace extends Wish {
  quantity: Quantity | null; // null: its robot is not known yet
  times: number[];
  values: number[];
}

interface Plot {
  unit: string;
  place: HTMLElement;
  legend: HTMLElement;
  chart: uPlot | null;
  traces: Trace[];
}

export class Plots {
  degrees = false;
  onChange = (): void => {};
  private readonly place = byId("plots");
  private readonly traces: Trace[] = [];
  private readonly abouts = new Map<number, About>();
  private plots: Plot[] = [];
  private chosen: boolean; // by the user
  private time = 0;

  constructor(private readonly name: string, private readonly several: boolean) {
    const { wishes } = stored<{ wishes: Wish[] }>(name, { wishes: [] });
    this.chosen = wishes.length > 0;
    for (const wish of wishes) this.traces.push({ ...wish, quantity: null, times: [], values: [] });
    addEventListener("resize", () => this.lay());
  }

  get robots(): Set<number> {
    return new Set(this.traces.map(({ robot }) => robot));
  }

  // What must be read of a robot: numbers of fields, and links.
  requested(robot: number): { fields: Set<number>; links: Set<number> } {
    const own = this.traces.filter((trace) => trace.robot === robot).map(({ quantity }) => quantity);
    return { fields: new Set(own.flatMap((q) => (q && q.field >= 0 ? [q.field] : []))),
      links: new Set(own.flatMap((q) => (q && q.field < 0 ? [q.link] : []))) };
  }

  has(robot: number, key: string): boolean {
    return this.traces.some((trace) => trace.robot === robot && trace.key === key);
  }

  // Plots all numbers of a quantity, or none of them.
  toggle(robot: number, name: string, quantity: Quantity): void {
    this.chosen = true;
    if (this.has(robot, quantity.key)) this.drop((trace) => trace.robot === robot && trace.key === quantity.key);
    else this.add(robot, name, quantity);
    this.changed();
  }

  private add(robot: number, name: string, quantity: Quantity): void {
    for (let part = 0; part < Math.max(quantity.heads.length, 1); part++)
      this.traces.push({ robot, name, key: quantity.key, part, quantity, times: [], values: [] });
  }

  private drop(which: (trace: Trace) => boolean): void {
    for (let i = this.traces.length - 1; i >= 0; i--) if (which(this.traces[i])) this.traces.splice(i, 1);
  }

  // What is plotted of a robot of a film until the user chooses.
  suggest(robot: number, name: string, which: [quantity: Quantity, part: number][]): void {
    if (this.chosen) return;
    this.traces.length = 0;
    for (const [quantity, part] of which)
      this.traces.push({ robot, name, key: quantity.key, part, quantity, times: [], values: [] });
    this.lay();
  }

  private changed(): void {
    store(this.name, { wishes: this.traces.map(({ robot, name, key, part }) => ({ robot, name, key, part })) });
    this.lay();
    this.onChange();
  }

  // What a robot consists of, by which its traces are known again.
  about(robot: number, about: About, motion: string): void {
    this.abouts.set(robot, about);
    const waits = this.traces.filter((trace) => trace.robot === robot);
    if (!waits.length) return;
    const contents = contentsOf(about, motion);
    const all = [...contents.all, ...about.parts.link.flatMap(({ name }, link) =>
      (waits.some(({ key }) => key.startsWith(`link ${name}/`)) ? ofLink(about, contents, link, name) : []))];
    for (const trace of waits) trace.quantity = all.find(({ key }) => key === trace.key) ?? trace.quantity;
    this.lay();
  }

  // ---- values ------------------------------------------------------------------------------------

  take(reading: Reading): void {
    const names = this.abouts.get(reading.robot)?.fields;
    if (!names) return;
    if (reading.time < this.time - 1e-9) this.clear(reading.time);
    this.time = Math.max(this.time, reading.time);
    this.put(reading, names);
  }

  private put(reading: Reading, names: About["fields"]): void {
    const fields = new Map(reading.fields.map(({ name, values }) => [name, values]));
    for (const trace of this.traces) {
      if (trace.robot !== reading.robot || !trace.quantity) continue;
      const value = numbersOf(trace.quantity, fields, names, reading.link)?.[trace.part];
      if (value === undefined || trace.times[trace.times.length - 1] >= reading.time) continue;
      trace.times.push(reading.time);
      trace.values.push(value);
    }
  }

  // It started again, or went back.
  private clear(time: number): void {
    this.time = time;
    for (const trace of this.traces) {
      const kept = trace.times.filter((t) => t < time).length;
      trace.times.length = trace.values.length = kept;
    }
  }

  // All readings of a film, of one robot.
  history(robot: number, readings: () => Reading[]): void {
    const names = this.abouts.get(robot)?.fields, own = this.traces.filter((trace) => trace.robot === robot);
    if (!names || !own.some((trace) => !trace.times.length)) return;
    for (const trace of own) trace.times.length = trace.values.length = 0;
    for (const reading of readings()) this.put(reading, names);
    this.draw();
  }

  // ---- pictures ----------------------------------------------------------------------------------

  // One below the other, each as high as there is space for.
  lay(): void {
    for (const plot of this.plots) plot.chart?.destroy();
    const units = [...new Set(this.traces.flatMap(({ quantity }) => (quantity ? [quantity.unit] : [])))];
    this.plots = units.map((unit) => {
      const place = make("div", "", "plot"), legend = make("div", "", "legend");
      place.append(legend);
      return { unit, place, legend, chart: null,
        traces: this.traces.filter(({ quantity }) => quantity?.unit === unit).slice(0, MOST) };
    });
    this.place.replaceChildren(...this.plots.map(({ place }) => place));
    this.place.hidden = !this.plots.length;
    for (const plot of this.plots) this.legendOf(plot);
    this.draw();
  }

  private legendOf(plot: Plot): void {
    const all = this.traces.filter(({ quantity }) => quantity?.unit === plot.unit).length;
    plot.legend.append(make("b", unitOf(plot.unit, this.degrees) || "1", "unit"), ...plot.traces.map((trace, i) => {
      const { quantity, part, name } = trace, chip = make("button"), dot = make("i");
      dot.style.background = COLORS[i];
      const text = [this.several ? name : "", quantity!.name.replace(TURN, "").trim(), quantity!.heads[part] ?? ""]
        .filter((word) => word).join(" ");
      chip.append(dot, text);
      chip.title = `${quantity!.title}; click: no longer`;
      chip.onclick = () => {
        this.chosen = true;
        this.drop((other) => other === trace);
        this.changed();
      };
      return chip;
    }), ...(all > MOST ? [make("span", `${all - MOST} more are not drawn`, "unit")] : []));
  }

  draw(): void {
    const wide = this.place.clientWidth < 60 ? 280 : this.place.clientWidth - 24;
    const column = this.place.parentElement!, tree = byId("tree");
    const left = column.id === "left" ? column.clientHeight - (tree.hidden ? 0 : tree.clientHeight + 8) - 24 : 320;
    const each = left / Math.max(this.plots.length, 1) - 10;
    for (const plot of this.plots) {
      const scale = scaleOf(plot.unit, this.degrees), filled = plot.traces.filter(({ times }) => times.length);
      if (!filled.length) continue;
      const data = this.joined(plot.traces, scale);
      if (plot.chart) plot.chart.setData(data);
      else plot.chart = this.chart(plot, wide, Math.max(80, Math.min(170, each - plot.legend.clientHeight)), data);
    }
  }

  private joined(traces: Trace[], scale: number): uPlot.AlignedData {
    const tables = traces.map(({ times, values }) => [times.slice(-KEEP), values.slice(-KEEP).map((v) => scale * v)]);
    const same = tables.every(([times]) => times.length === tables[0][0].length && times[0] === tables[0][0][0]);
    return (same ? [tables[0][0], ...tables.map(([, values]) => values)] : uPlot.join(tables as uPlot.AlignedData[])) as uPlot.AlignedData;
  }

  private chart(plot: Plot, width: number, height: number, data: uPlot.AlignedData): uPlot {
    const ink = getComputedStyle(document.documentElement).getPropertyValue("--soft").trim();
    const axis = { stroke: ink, font: "11px system-ui", grid: { stroke: "#8884", width: 0.5 }, ticks: { stroke: "#8884", width: 0.5, size: 4 } };
    const sides = (u: uPlot, least: number, most: number): [number, number] => {
      const pad = Math.max(0.05 * (most - least), 1e-3 * Math.max(Math.abs(most), Math.abs(least)), 1e-3 - 0.5 * (most - least), 0);
      return u && Number.isFinite(least) ? [least - pad, most + pad] : [0, 1];
    };
    return new uPlot({ width, height, legend: { show: false }, cursor: { y: false },
      scales: { x: { time: false }, y: { range: sides } },
      series: [{}, ...plot.traces.map((_, i) => ({ stroke: COLORS[i], width: 1.5, spanGaps: true,
        points: { show: false } }))],
      axes: [{ ...axis, size: 24, values: (_, ticks) => ticks.map((t) => `${+t.toPrecision(6)} s`) },
        { ...axis, size: 52, values: (_, ticks) => ticks.map((t) => (Math.abs(t) >= 1e4 ? t.toExponential(1) : String(+t.toPrecision(4)))) }],
    }, data, plot.place);
  }

  cursor(time: number): void {
    for (const { chart } of this.plots) {
      const times = chart?.data[0];
      if (!chart || !times?.length) continue;
      const index = Math.max(times.findIndex((t) => t >= time), 0);
      chart.setCursor({ left: chart.valToPos(times[index], "x"), top: 10 }, false);
      chart.root.title = digits(times[index], "s", false);
    }
  }
}
