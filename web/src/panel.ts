// The panel of a selected robot: its quantities by name in sections that fold, a filter, sliders for its
// inputs, and its link that was clicked.
import { byId, make, say } from "./page";
import type { Plots } from "./plots";
import { contentsOf, digits, numbersOf, ofBar, ofLink, scaleOf, TURN, unitOf } from "./quantities";
import type { About, Contents, Group, Quantity, Reading } from "./quantities";
import { store, stored } from "./store";

const SETTINGS = "mayfly-panel"; // in the browser's memory
const ROWS = 60; // that are open at first
const FOUND = 200; // that a filter shows
const PATIENCE = 700; // [ms] for which a slider stays where it was put

interface Row {
  quantity: Quantity;
  update: (values: number[] | null, target: number[] | null) => void;
  label: HTMLElement;
}

interface Fold {
  title: string;
  node: HTMLDetailsElement;
  body: HTMLElement;
  rows: Row[] | null; // null: not made yet
  make: () => Row[];
}

export class Panel {
  private readonly place = byId("robot");
  private readonly title = make("span");
  private readonly level = make("select");
  private readonly levels = make("label");
  private readonly angle = make("button");
  private readonly filter = make("input");
  private readonly body = make("div", "", "sections");
  private readonly settings = stored<{ degrees: boolean; open: Record<string, boolean> }>(SETTINGS,
    { degrees: false, open: {} });
  private folds: Fold[] = [];
  private about: About | null = null;
  private contents: Contents | null = null;
  private last: Reading | null = null;
  private motion = "";
  private robot = -1;
  private link = -1;
  private name = "";
  private linkName = "";
  onClose = (): void => {};
  onAbout: ((robot: number) => void) | null = null; // it must be asked again
  onRead: (() => void) | null = null; // values must be read that were not shown
  onLevel: ((motion: string) => void) | null = null;
  onSet: ((field: string, component: number, value: number) => void) | null = null;

  constructor(private readonly plots: Plots, private readonly hint: (robot: number) => string) {
    const head = make("h2"), close = make("button", "×"), tools = make("div", "", "tools"), top = make("div", "", "top");
    close.title = "close (Esc)";
    close.setAttribute("aria-label", "close");
    close.onclick = () => this.onClose();
    head.append(this.title, close);
    this.level.setAttribute("aria-label", "level of physics");
    this.levels.append(make("span", "level of physics"), this.level);
    this.level.onchange = () => this.onLevel?.(this.level.value);
    this.filter.type = "search";
    this.filter.placeholder = "filter: a name or a field";
    this.filter.setAttribute("aria-label", "filter");
    this.filter.oninput = () => this.build();
    this.angle.title = "angles in radians or degrees";
    this.angle.id = "angle";
    this.angle.onclick = () => {
      this.settings.degrees = !this.settings.degrees;
      this.showAngle();
      this.plots.lay();
      this.build();
    };
    tools.append(this.filter, this.angle);
    top.append(head, this.levels, tools);
    this.place.append(top, this.body);
    this.showAngle();
    this.plots.onChange = () => this.showPlotted();
  }

  private showAngle(): void {
    this.plots.degrees = this.settings.degrees;
    this.angle.textContent = this.settings.degrees ? "deg" : "rad";
    store(SETTINGS, this.settings);
  }

  // Of no robot it goes away.
  open(robot: number, name: string, link: number, linkName: string): void {
    const other = robot !== this.robot;
    this.robot = robot;
    this.link = link;
    this.name = name;
    this.linkName = linkName;
    this.place.hidden = robot < 0;
    if (other) this.title.replaceChildren(name);
    if (other) {
      this.about = this.contents = this.last = null;
      this.motion = "";
      this.filter.value = "";
      this.levels.hidden = true;
      this.level.replaceChildren();
    }
    this.build();
  }

  // The level of a robot, if it is known.
  motionOf(robot: number): string {
    return robot === this.robot ? this.motion : "";
  }

  // What the robot consists of.
  take(about: About): void {
    const own = about.model && !this.name.startsWith(about.model) ? [make("small", about.model, "model")] : [];
    this.title.querySelector(".model")?.remove();
    this.title.append(...own);
    this.about = about;
    this.contents = contentsOf(about, this.motion);
    this.build();
  }

  // What the page must read of the robot for what is to be seen.
  get requested(): { fields: Set<number>; link: number } {
    const fields = new Set<number>();
    for (const fold of this.folds)
      for (const { quantity } of this.isOpen(fold) ? fold.rows ?? [] : [])
        for (const one of quantity.target ? [quantity, quantity.target] : [quantity])
          if (one.field >= 0) fields.add(one.field);
    return { fields, link: this.link };
  }

  private isOpen(fold: Fold): boolean {
    return fold.node.open && (fold.node.parentElement?.closest("details")?.open ?? true);
  }

  update(reading: Reading): void {
    this.showLevel(reading);
    this.last = reading;
    if (!this.about) return;
    const fields = new Map(reading.fields.map(({ name, values }) => [name, values]));
    const get = (quantity?: Quantity): number[] | null =>
      (quantity ? numbersOf(quantity, fields, this.about!.fields, reading.link) : null);
    for (const fold of this.folds)
      if (this.isOpen(fold))
        for (const row of fold.rows ?? []) row.update(get(row.quantity), get(row.quantity.target));
  }

  // The level at which the robot moves, and those at which it could.
  private showLevel(reading: Reading): void {
    const { motion, motions } = reading;
    if (!motion || !motions) return;
    if (this.level.options.length !== motions.length) {
      this.level.replaceChildren(...motions.map((name) => new Option(name, name)));
      this.level.disabled = motions.length < 2 || this.onLevel === null;
      this.levels.hidden = false;
    }
    if (this.level.value !== motion && document.activeElement !== this.level) this.level.value = motion;
    if (motion === this.motion) return;
    if (this.motion) this.onAbout?.(this.robot); // what it follows may be something else now
    this.motion = motion;
    if (this.about) this.take(this.about);
  }

  // ---- sections ----------------------------------------------------------------------------------

  private build(): void {
    this.folds = [];
    this.body.replaceChildren();
    if (!this.about || !this.contents) {
      if (this.robot >= 0) this.body.append(make("p", "…", "unit"));
      return;
    }
    const words = this.filter.value.toLowerCase().split(/\s+/).filter((word) => word);
    const fits = (row: Quantity): boolean => {
      const text = `${row.label} ${row.title} ${row.target?.title ?? ""}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    let left = words.length ? FOUND : ROWS, hidden = 0;
    const sections = [...this.linkSection(), ...this.contents.sections];
    for (const { title, groups } of sections) {
      const found = groups.map((group) => {
        const rows = words.length ? group.rows.filter(fits) : group.rows;
        const some = words.length ? rows.slice(0, left) : rows;
        hidden += rows.length - some.length;
        if (words.length) left -= some.length;
        return { ...group, rows: some };
      }).filter(({ rows }) => rows.length);
      if (!found.length) continue;
      const count = found.reduce((sum, { rows, open }) => sum + (open ? rows.length : 1), 0);
      const first = title !== "All fields" && (left >= count || title.startsWith("Link"));
      if (!words.length && first) left -= count;
      this.addSection(title, found, words.length > 0, first);
    }
    if (words.length && !this.folds.length) this.body.append(make("p", "nothing has this name", "unit"));
    if (hidden) this.body.append(make("p", `${hidden} more: write more of the name`, "unit"));
    if (this.last) this.update(this.last);
    this.onRead?.();
  }

  private linkSection(): { title: string; groups: Group[] }[] {
    const { about, contents } = this;
    if (!about || !contents || this.link < 0) return [];
    const links = about.parts.link, part = links[this.link];
    const bar = this.linkName.startsWith("bar ");
    const rows = bar ? ofBar(about, contents, Number(this.linkName.slice(4)))
      : part && links.length > 1 ? ofLink(about, contents, this.link, part.name) : [];
    return rows.length ? [{ title: bar ? `Bar ${this.linkName.slice(4)}` : `Link ${part.name}`,
      groups: [{ title: "", text: "", rows, open: true }] }] : [];
  }

  private addSection(title: string, groups: Group[], all: boolean, first: boolean): void {
    const kept = title.replace(/^(Link|Bar) .*/, "$1"), node = this.details(title, kept, all, first), body = make("div");
    const count = groups.reduce((sum, { rows }) => sum + rows.length, 0);
    node.firstElementChild!.append(make("small", String(count)));
    node.append(body);
    this.body.append(node);
    const selected = kept !== title;
    for (const group of groups) {
      if (group.title === "") {
        this.addFold(node, body, title, () => this.makeRows(body, group.rows, selected, kept));
        const hint = selected ? this.hint(this.robot) : "";
        if (hint) body.append(make("p", hint, "unit hint"));
        continue;
      }
      const inner = this.details(group.title, group.title, all, group.open), rows = make("div");
      inner.firstElementChild!.append(make("small", String(group.rows.length)));
      if (group.text) (inner.firstElementChild as HTMLElement).title = group.text;
      inner.className = "group";
      inner.append(rows);
      body.append(inner);
      this.addFold(inner, rows, group.title, () => this.makeRows(rows, group.rows, false, kept));
    }
  }

  private details(title: string, kept: string, all: boolean, first: boolean): HTMLDetailsElement {
    const node = make("details"), head = make("summary");
    head.append(make("span", title));
    node.append(head);
    node.open = all || (this.settings.open[kept] ?? first);
    head.onclick = () => { // before it opens or closes
      if (all) return;
      this.settings.open[kept] = !node.open;
      store(SETTINGS, this.settings);
    };
    return node;
  }

  private addFold(node: HTMLDetailsElement, body: HTMLElement, title: string, rows: () => Row[]): void {
    const fold: Fold = { title, node, body, rows: null, make: rows };
    const fill = (): void => {
      if (!this.isOpen(fold) || fold.rows) return;
      fold.rows = fold.make();
      this.showPlotted();
    };
    const opened = (): void => {
      fill();
      this.onRead?.();
    };
    this.folds.push(fold);
    node.addEventListener("toggle", opened);
    node.parentElement?.closest("details")?.addEventListener("toggle", opened);
    fill();
  }

  private showPlotted(): void {
    for (const { rows } of this.folds)
      for (const { label, quantity } of rows ?? [])
        label.classList.toggle("shown", this.plots.has(this.robot, quantity.key));
  }

  // ---- rows --------------------------------------------------------------------------------------

  private makeRows(place: HTMLElement, rows: Quantity[], exact: boolean, section: string): Row[] {
    let heads = "";
    return rows.map((quantity) => {
      const own = quantity.label === TURN ? "" : quantity.heads.join(" ");
      if (own && own !== heads) place.append(this.heads(quantity));
      if (own) heads = own;
      return this.row(place, quantity, exact || section === "Inputs");
    });
  }

  private heads({ heads }: Quantity): HTMLElement {
    const row = make("div", "", "row heads");
    row.append(make("span"), ...heads.map((text, i) => {
      const head = make("span", text);
      head.style.gridColumn = String(i + 2 + 3 - heads.length);
      return head;
    }));
    return row;
  }

  private row(place: HTMLElement, quantity: Quantity, exact: boolean): Row {
    const row = make("div", "", "row"), label = make("button", quantity.label, "name");
    label.title = `${quantity.title.replace(/ *$/, "")}\nclick: plot it`;
    label.onclick = () => this.plots.toggle(this.robot, this.name, quantity);
    row.append(label);
    place.append(row);
    const settable = this.onSet !== null, input = quantity.target ?? quantity;
    const vector = quantity.heads.length > 0, number = !input.words && !vector;
    if (settable && number && input.input && input.how === "values") return this.slider(row, label, quantity, exact);
    if (settable && vector && quantity.input && quantity.how === "values") return this.boxes(row, label, quantity);
    if (number && quantity.low !== null && quantity.part === "joint" && quantity.target === undefined && !exact)
      return this.gauge(row, label, quantity);
    return { quantity, label, update: this.values(row, quantity) };
  }

  private text(value: number, quantity: Quantity): string {
    const { degrees } = this.settings;
    const word = quantity.words?.[value];
    return word ?? digits(value * scaleOf(quantity.unit, degrees), quantity.unit, degrees);
  }

  private unit(quantity: Quantity): HTMLElement {
    return make("span", unitOf(quantity.unit, this.settings.degrees), "unit");
  }

  private values(row: HTMLElement, quantity: Quantity): (values: number[] | null) => void {
    const count = Math.max(quantity.heads.length, 1), wide = quantity.words !== undefined;
    if (count === 1 && row.childElementCount === 1) row.classList.add("one");
    const cells = Array.from({ length: count }, (_, i) => {
      const cell = make("span", "", "value");
      cell.style.gridColumn = wide ? "3 / 6" : String(i + 2 + 3 - count);
      return cell;
    });
    row.append(...cells, ...(wide ? [] : [this.unit(quantity)]));
    return (values) => {
      if (!values) return;
      cells.forEach((cell, i) => {
        const text = this.text(values[i], quantity);
        if (cell.textContent !== text) cell.textContent = text;
      });
    };
  }

  // Where a value is between its limits.
  private gauge(row: HTMLElement, label: HTMLElement, quantity: Quantity): Row {
    const gauge = make("meter"), low = quantity.low!, high = quantity.high!, show = this.values(row, quantity);
    gauge.min = low;
    gauge.max = high;
    gauge.title = this.limits(quantity);
    row.insertBefore(gauge, label.nextSibling);
    return { quantity, label, update: (values) => {
      if (values) gauge.value = values[0];
      show(values);
    } };
  }

  private limits({ low, high, unit }: Quantity): string {
    const { degrees } = this.settings, scale = scaleOf(unit, degrees);
    return low === null || high === null ? "no limits in the model"
      : `${digits(low * scale, unit, degrees)} to ${digits(high * scale, unit, degrees)} ${unitOf(unit, degrees)}`;
  }

  // A value is put there within the limits of the model.
  private slider(row: HTMLElement, label: HTMLElement, quantity: Quantity, exact: boolean): Row {
    const { degrees } = this.settings, input = quantity.target ?? quantity, slide = make("input");
    const scale = scaleOf(input.unit, degrees), limited = input.low !== null && input.high !== null;
    const field = this.about!.fields[input.field].name, unit = unitOf(input.unit, degrees);
    const whose = input.key.slice(input.key.indexOf("/") + 1);
    const box = exact || quantity.target === undefined ? make("input") : null;
    slide.type = "range";
    slide.step = "any";
    slide.setAttribute("aria-label", `${field} ${whose}`);
    slide.title = `${field}: ${this.limits(input)}`;
    row.append(slide);
    let put = 0; // when the user last moved it
    const reach = (value: number): void => { // without limits as far as is useful
      const most = limited ? 0 : Math.max(2 * Math.abs(value), input.unit === "rad" ? Math.PI : 1);
      slide.min = String(scale * (input.low ?? -most));
      slide.max = String(scale * (input.high ?? most));
    };
    const set = (value: number): void => {
      put = performance.now();
      this.onSet?.(field, input.at[0], value);
    };
    slide.oninput = () => {
      if (box) box.value = String(+Number(slide.value).toFixed(degrees ? 2 : 4));
      set(Number(slide.value) / scale);
    };
    reach(0);
    const show = box ? null : this.values(row, quantity);
    if (box) {
      box.type = "number";
      box.step = "any";
      box.setAttribute("aria-label", `${field} ${whose}, exact`);
      if (limited) [box.min, box.max] = [slide.min, slide.max];
      box.onchange = () => {
        let value = Number(box.value);
        if (limited && (value < Number(slide.min) || value > Number(slide.max))) {
          value = Math.min(Math.max(value, Number(slide.min)), Number(slide.max));
          say(`${whose}: its limits are ${this.limits(input)}`);
          box.value = String(value);
        }
        set(value / scale);
      };
      row.append(box, make("span", unit, "unit"));
    }
    return { quantity, label, update: (values, target) => {
      show?.(values);
      const now = quantity.target ? target : values;
      if (!now || performance.now() - put < PATIENCE) return;
      if (!limited && Math.abs(now[0] * scale) > Number(slide.max)) reach(now[0]);
      slide.value = String(scale * now[0]);
      if (box && document.activeElement !== box) box.value = String(+(scale * now[0]).toFixed(degrees ? 2 : 4));
    } };
  }

  private boxes(row: HTMLElement, label: HTMLElement, quantity: Quantity): Row {
    const { degrees } = this.settings, scale = scaleOf(quantity.unit, degrees), count = quantity.heads.length;
    const field = this.about!.fields[quantity.field].name;
    const boxes = quantity.at.map((component, i) => {
      const box = make("input");
      box.type = "number";
      box.step = "any";
      box.style.gridColumn = String(i + 2 + 3 - count);
      box.setAttribute("aria-label", `${quantity.label} ${quantity.heads[i]}`);
      box.onchange = () => this.onSet?.(field, component, Number(box.value) / scale);
      return box;
    });
    row.append(...boxes, this.unit(quantity));
    return { quantity, label, update: (values) => boxes.forEach((box, i) => {
      if (values && document.activeElement !== box) box.value = String(+(scale * values[i]).toFixed(3));
    }) };
  }
}
