// Sliders, buttons and checkboxes of programs (src/visual/draw.h), in a fold of the page. What is
// moved here goes to the program that made it.
import { CONTROL } from "./drawn";
import type { DrawnRecord, Layers } from "./drawn";
import { byId, make } from "./page";

const SLIDER = 0, BUTTON = 1;
const QUIET = 700; // [ms] after a move, before what the program says counts again

interface Row {
  key: string; // what it is, but its value
  line: HTMLElement;
  show: (value: number) => void;
  moved: number; // [ms] of the clock
}

const keyOf = (record: DrawnRecord): string =>
  JSON.stringify([record.kind, record.name, record.text, ...record.numbers.subarray(0, 3)]);
const written = (value: number): string => String(Number(value.toPrecision(4)));

export class Controls {
  private readonly fold = byId("controls");
  private readonly rows = new Map<number, Row>();

  constructor(private readonly send: (slot: number, value: number) => void) {}

  update(records: Layers): void {
    let changed = false;
    for (const [slot, row] of this.rows)
      if (!records.has(slot) || keyOf(records.get(slot)!) !== row.key) {
        this.rows.delete(slot);
        changed = true;
      }
    for (const [slot, record] of records) {
      changed ||= !this.rows.has(slot);
      const row = this.rows.get(slot) ?? this.row(slot, record);
      if (performance.now() - row.moved > QUIET) row.show(record.numbers[3]);
    }
    if (!changed) return;
    this.fold.hidden = this.rows.size === 0;
    const lines = [...this.rows.keys()].sort((a, b) => a - b).map((slot) => this.rows.get(slot)!.line);
    this.fold.replaceChildren(make("summary", "controls"), ...lines);
  }

  private row(slot: number, record: DrawnRecord): Row {
    const kind = record.kind - CONTROL, line = make("label"), input = make("input");
    const row: Row = { key: keyOf(record), line, show: () => {}, moved: -QUIET };
    const move = (value: number): void => {
      row.moved = performance.now();
      this.send(slot, value);
    };
    input.setAttribute("aria-label", record.name);
    this.rows.set(slot, row);
    if (kind === BUTTON) {
      const button = make("button", record.name);
      button.onclick = () => move(1);
      row.line = button;
    } else if (kind === SLIDER) this.slider(record, row, input, move);
    else {
      input.type = "checkbox";
      input.onchange = () => move(Number(input.checked));
      row.show = (value) => { input.checked = value !== 0; };
      line.append(input, make("span", ` ${record.name}`));
    }
    row.show(record.numbers[3]);
    return row;
  }

  private slider(record: DrawnRecord, row: Row, input: HTMLInputElement, move: (value: number) => void): void {
    const [low, high, step] = record.numbers, value = make("output");
    input.type = "range";
    input.min = String(low);
    input.max = String(high);
    input.step = step > 0 ? String(Number(step.toPrecision(6))) : "any";
    const say = (): void => { value.textContent = `${written(Number(input.value))} ${record.text}`; };
    input.oninput = () => {
      say();
      move(Number(input.value));
    };
    row.show = (now) => {
      input.value = String(now);
      say();
    };
    const top = make("span", "", "top");
    top.append(make("span", record.name), value);
    row.line.append(top, input);
  }
}
