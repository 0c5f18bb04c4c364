// The panel of a selected robot: its fields by name with their units, plots of them over time, and
// inputs to set.
import uPlot from "uplot";
import { byId, make, number } from "./page";

export interface Field {
  name: string;
  unit: string;
  frame?: string;
  input?: boolean;
  values: number[];
}

export interface Reading {
  time: number; // [s]
  motion?: string;
  motions?: string[]; // to which it can switch
  fields: Field[];
}

const KEEP = 1200; // readings of a plot
const COLORS = ["#e8590c", "#1c7ed6", "#2b8a3e", "#ae3ec9", "#f08c00", "#0c8599"];

const keyOf = (field: Field, component: number): string =>
  field.values.length > 1 ? `${field.name}[${component}]` : field.name;

export class Panel {
  private readonly place = byId("robot");
  private readonly table = make("table");
  private readonly chart = make("div"); // above the fields, which may be many
  private readonly level = make("select");
  private readonly rows = new Map<string, HTMLTableCellElement>();
  private readonly shown: string[] = []; // what is plotted
  private readonly times: number[] = [];
  private readonly traces = new Map<string, number[]>();
  private plot: uPlot | null = null;
  onClose = (): void => {};
  onLevel: ((motion: string) => void) | null = null;
  onSet: ((field: string, component: number, value: number) => void) | null = null;

  // Without a title it goes away.
  open(title: string, note: string): void {
    this.place.replaceChildren();
    this.rows.clear();
    this.table.replaceChildren();
    this.times.length = this.shown.length = 0;
    this.traces.clear();
    this.plot?.destroy();
    this.plot = null;
    this.place.hidden = title === "";
    if (title === "") return;
    const head = make("h2", title), close = make("button", "×");
    close.title = "close (Esc)";
    close.onclick = () => this.onClose();
    head.append(close);
    this.level.replaceChildren();
    this.level.hidden = true;
    this.level.setAttribute("aria-label", "motion level");
    this.level.onchange = () => this.onLevel?.(this.level.value);
    this.place.append(head, make("p", note, "unit"), this.level, this.chart, this.table);
  }

  // The level at which the robot moves, and those at which it could.
  private showLevel(reading: Reading): void {
    if (!reading.motion || !reading.motions) return;
    if (!this.level.options.length) {
      for (const motion of reading.motions) this.level.add(new Option(motion, motion));
      this.level.disabled = reading.motions.length < 2;
      this.level.title = "level of physics";
      this.level.hidden = false;
    }
    if (this.level.value !== reading.motion && document.activeElement !== this.level)
      this.level.value = reading.motion;
  }

  // Whole histories, of a film.
  history(times: number[], traces: Map<string, number[]>, show: string[]): void {
    this.times.push(...times);
    for (const [name, values] of traces) this.traces.set(name, values);
    this.shown.push(...show);
    this.draw();
  }

  cursor(time: number): void {
    if (!this.plot || !this.times.length) return;
    const index = this.times.findIndex((t) => t >= time);
    this.plot.setCursor({ left: this.plot.valToPos(this.times[Math.max(index, 0)], "x"), top: 10 });
  }

  update(reading: Reading, grows: boolean): void {
    this.showLevel(reading);
    if (grows && reading.time < (this.times[this.times.length - 1] ?? -Infinity)) {
      this.times.length = 0;
      for (const values of this.traces.values()) values.length = 0;
    }
    if (grows) this.times.push(reading.time);
    for (const field of reading.fields)
      field.values.forEach((value, component) => {
        const key = keyOf(field, component);
        const cell = this.rows.get(key) ?? this.row(field, component, key, grows);
        if (cell.firstElementChild?.tagName !== "INPUT") cell.firstChild!.textContent = number(value);
        if (!grows) return;
        const trace = this.traces.get(key) ?? this.traces.set(key, []).get(key)!;
        trace.push(value);
        if (trace.length > KEEP) trace.shift();
      });
    if (this.times.length > KEEP) this.times.shift();
    if (grows) this.draw();
  }

  private row(field: Field, component: number, key: string, plots: boolean): HTMLTableCellElement {
    const row = this.table.insertRow(), name = row.insertCell(), cell = row.insertCell();
    const label = make(plots ? "button" : "span", key, "name");
    label.title = plots ? `plot ${key}` : field.frame ?? "";
    if (plots) {
      label.style.cssText = "border:0;padding:0;min-height:0";
      label.onclick = () => this.toggle(key, label);
    }
    name.append(label);
    if (field.input && this.onSet) this.inputs(cell, field, component);
    else cell.append(make("span"), make("span", ` ${field.unit}`, "unit"));
    this.rows.set(key, cell);
    return cell;
  }

  private inputs(cell: HTMLTableCellElement, field: Field, component: number): void {
    const exact = make("input"), slide = make("input"), value = field.values[component];
    const most = Math.max(2 * Math.abs(value), field.unit === "rad" ? 1.6 : 1);
    exact.type = "number";
    slide.type = "range";
    exact.step = slide.step = "any";
    slide.min = String(-most);
    slide.max = String(most);
    exact.value = number(value);
    slide.value = String(value);
    exact.setAttribute("aria-label", field.name);
    slide.setAttribute("aria-label", field.name);
    exact.onchange = () => {
      slide.value = exact.value;
      this.onSet?.(field.name, component, Number(exact.value));
    };
    slide.oninput = () => {
      exact.value = number(Number(slide.value));
      this.onSet?.(field.name, component, Number(slide.value));
    };
    cell.className = "set";
    cell.append(exact, make("span", ` ${field.unit}`, "unit"), slide);
  }

  private toggle(key: string, label: HTMLElement): void {
    const at = this.shown.indexOf(key);
    if (at >= 0) this.shown.splice(at, 1);
    else if (this.shown.length < COLORS.length) this.shown.push(key);
    label.classList.toggle("shown", this.shown.includes(key));
    this.plot?.destroy();
    this.plot = null;
    this.draw();
  }

  private draw(): void {
    if (!this.shown.length || this.times.length < 2) return;
    const data = [this.times, ...this.shown.map((key) => {
      const values = this.traces.get(key) ?? [];
      return [...Array(Math.max(this.times.length - values.length, 0)).fill(null), ...values];
    })] as uPlot.AlignedData;
    if (this.plot) {
      this.plot.setData(data);
      return;
    }
    const ink = getComputedStyle(document.documentElement).getPropertyValue("--soft").trim();
    const axis = { stroke: ink, grid: { stroke: "#8886", width: 0.5 }, ticks: { stroke: "#8886" }, size: 44 };
    this.plot = new uPlot({
      width: this.place.clientWidth - 24, height: 190, scales: { x: { time: false } },
      series: [{ label: "s" }, ...this.shown.map((label, i) => ({ label, stroke: COLORS[i], width: 1.5 }))],
      axes: [{ ...axis, size: 30 }, axis], cursor: { y: false },
    }, data, this.chart);
  }
}
