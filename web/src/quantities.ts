// What there is to see of a robot: its fields cut into quantities with names, units and limits, in the
// sections of the panel. src/view/panel.c says which values of a field belong to which part.

// First value, their number, number of the part, unit where it is not the field's, limits.
type Row = [first: number, count: number, index: number, unit?: string, low?: number, high?: number];

export interface FieldInfo {
  name: string;
  unit: string;
  frame: string;
  text: string;
  input: boolean;
  width: number;
  count: number;
  of?: string; // a kind of parts
  rows?: Row[];
  names?: string[]; // of its values
  units?: string[];
  values?: string[]; // what its values mean, by their number
}

export interface About {
  group: string;
  model: string;
  mass: number; // [kg]
  gravity: number; // [m/s^2]
  parts: Record<string, { name: string; link: number; parent?: number }[]>;
  fields: FieldInfo[];
}

export interface LinkState {
  number: number;
  position: number[]; // [m]
  rotation: number[]; // (w, x, y, z)
  velocity: number[]; // [m/s], [rad/s] world axes
}

export interface Reading {
  robot: number;
  time: number; // [s]
  motion?: string;
  motions?: string[]; // to which it can switch
  link?: LinkState;
  fields: { name: string; values: (number | null)[] }[];
}

type How = "values" | "angles" | "sum";

export interface Quantity {
  key: string; // of plots, and in the browser's memory
  label: string;
  name: string; // in plots, where no section says whose it is
  title: string; // what it is
  field: number; // of the robot's; -1: of a link
  at: number[]; // its values
  how: How; // angles: four values are an orientation
  heads: string[]; // of several numbers
  unit: string;
  link: number; // -1: none
  part: string; // kind of what it is of, or ""
  index: number; // of the part
  input: boolean;
  low: number | null;
  high: number | null;
  words?: string[]; // what its values mean
  target?: Quantity; // where the part is to go
}

export interface Group {
  title: string; // "": its rows are those of the section
  text: string;
  rows: Quantity[];
  open: boolean;
}

export interface Section {
  title: string;
  groups: Group[];
}

const MOST = 256; // elements of a field without parts
const XYZ = ["x", "y", "z"], ANGLES = ["roll", "pitch", "yaw"];
const VECTOR = /position|velocity|force|torque|acceleration|load|anchor|points|center|start|home|movement|waypoint|rates/;
const SIX = /^(wrench|dock\.load)/; // force and torque
const ROTATION = /(orientation|rotation)$/;
const STATE = /^(rotor|car|surface|motor|air|neighbor\.count|bar\.(force|stress|rest_length)|vertex\.position|tendon\.(length|force)|neuron\.state)/;
export const TURN = "roll, pitch, yaw";
const BASE: Record<string, string> = { "base.position": "position", "base.orientation": TURN,
  "base.linear_velocity": "velocity", "base.angular_velocity": "angular velocity", "base.speed": "speed" };
const OF_LINK = /^(joint\.(angle|rate|target|torque)|ball\.|free\.|actuator\.(control|force)|sensor\.value|dock\.(state|enabled)|wrench\.link|bar\.)/;

// ---- numbers -----------------------------------------------------------------------------------

export const unitOf = (unit: string, degrees: boolean): string =>
  (degrees && /^rad\b/.test(unit) ? unit.replace("rad", "°") : unit === "1" ? "" : unit)
    .replace(/\^2/g, "²").replace(/\^3/g, "³");

export const scaleOf = (unit: string, degrees: boolean): number =>
  degrees && /^rad\b/.test(unit) ? 180 / Math.PI : 1;

// With as many digits as others of its unit, so that a column of them can be read.
export function digits(value: number, unit: string, degrees: boolean): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value), known = /^(m|m\/s|rad|rad\/s|N|N m|s)$/.test(unit);
  if (!known && Number.isInteger(value) && size < 1e9) return String(value);
  if (size >= 1e5 || (!known && size > 0 && size < 1e-3)) return value.toExponential(2);
  const text = value.toFixed(degrees && /^rad\b/.test(unit) ? 1 : size >= 999.995 ? 1 : size >= 99.9995 ? 2 : 3);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

export function anglesOf([w, x, y, z]: number[]): number[] {
  return [Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
    Math.asin(Math.min(1, Math.max(-1, 2 * (w * y - z * x)))),
    Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))];
}

// The numbers of a quantity in a reading; null: they are not in it.
export function numbersOf(quantity: Quantity, fields: Map<string, (number | null)[]>, names: FieldInfo[],
  state?: LinkState): number[] | null {
  const own = quantity.field < 0
    ? state?.number === quantity.link ? [...state.position, ...state.rotation, ...state.velocity] : null
    : fields.get(names[quantity.field]?.name);
  if (!own) return null;
  const values = quantity.at.map((i) => own[i] ?? NaN);
  return quantity.how === "angles" ? anglesOf(values)
    : quantity.how === "sum" ? [values.reduce((a, b) => a + b, 0)] : values;
}

// ---- a field -----------------------------------------------------------------------------------

const last = (name: string): string => name.slice(name.indexOf(".") + 1).replaceAll("_", " ");
const range = (first: number, count: number): number[] => Array.from({ length: count }, (_, i) => first + i);

// One word for each number of an element, and its unit if it has its own, where the description lists them:
// "...: forward, left, and yaw in rad/s".
function wordsOf(text: string, width: number): { word: string; unit?: string }[] | null {
  const words = text.slice(text.indexOf(": ") + 1).trim().split(/, (?:and )?| and /).map((part) => /^(\w+)(?: in (\S+))?$/.exec(part));
  return words.length === width && words.every((word) => word) ? words.map((word) => ({ word: word![1], unit: word![2] })) : null;
}

// What the values 0, 1, ... of a field mean, where its description lists it.
function meaningOf(field: FieldInfo): string[] | undefined {
  return field.values ?? (/^0 \w+(, \d+ \w+)+$/.test(field.text)
    ? field.text.split(", ").map((text) => text.replace(/^\d+ /, "")) : undefined);
}

function cut(field: FieldInfo, make: (label: string, at: number[], more?: Partial<Quantity>) => Quantity,
  label: string, first: number, count: number): Quantity[] {
  if (count === 4 && ROTATION.test(field.name))
    return [make(label, range(first, 4), { how: "angles", heads: ANGLES, unit: "rad", input: false })];
  if (count === 6 && SIX.test(field.name))
    return [make(`${label} force`, range(first, 3), { heads: XYZ, unit: "N" }),
      make(`${label} torque`, range(first + 3, 3), { heads: XYZ, unit: "N m" })];
  const words = wordsOf(field.text, count);
  if ((count === 2 || count === 3) && (VECTOR.test(field.name) || field.of === "sensor"))
    return [make(label, range(first, count), { heads: XYZ.slice(0, count) })];
  if (count === 1) return [make(label, [first])];
  return range(first, count).map((at, i) => {
    const word = words?.[i].word ?? field.names?.[i] ?? String(i), unit = words?.[i].unit ?? field.units?.[i];
    return make(words && field.count === count ? word : `${label} ${word}`, [at], unit ? { unit } : {});
  });
}

function quantitiesOf(about: About, number: number): Quantity[] {
  const field = about.fields[number], used = new Map<string, number>(), out: Quantity[] = [];
  const make = (label: string, at: number[], more: Partial<Quantity> = {}): Quantity => {
    const seen = (used.get(label) ?? 0) + 1;
    used.set(label, seen);
    const own = seen > 1 ? `${label} ${seen}` : label;
    return { key: `${field.name}/${own}`, label: own, name: own, title: `${own}: ${field.name}. ${field.text}`
      + (field.frame ? ` (${field.frame} axes)` : ""), field: number, at, how: "values", heads: [], unit: field.unit,
    link: -1, part: "", index: -1, input: field.input, low: null, high: null, words: meaningOf(field), ...more };
  };
  for (const [first, count, index, unit, low, high] of field.rows ?? []) {
    const part = about.parts[field.of!][index];
    for (const quantity of cut(field, make, part.name || `${field.of} ${index}`, first, count))
      out.push({ ...quantity, name: field.name === "sensor.value" || SIX.test(field.name) ? quantity.label : `${quantity.label} ${last(field.name)}`, unit: quantity.unit === field.unit ? unit ?? field.unit : quantity.unit, link: part.link,
        part: field.of!, index, low: low ?? null, high: high ?? null });
  }
  const covered = out.reduce((most, { at }) => Math.max(most, at[at.length - 1] + 1), 0);
  const elements = Math.min(field.width ? Math.floor(field.count / field.width) : 0, MOST);
  const kind = field.name.slice(0, field.name.indexOf("."));
  for (let i = Math.ceil(covered / field.width); i < elements; i++)
    out.push(...cut(field, make, elements > 1 ? `${kind} ${i}` : last(field.name), i * field.width, field.width)
      .map((quantity) => ({ ...quantity, part: kind === "bar" ? kind : "", index: i,
        name: elements > 1 ? `${quantity.label} ${last(field.name)}` : quantity.label })));
  return out;
}

// ---- sections ----------------------------------------------------------------------------------

// Of contacts one row for each link: the sum of its loads.
function byLink(about: About, rows: Quantity[]): Quantity[] {
  const out = new Map<number, Quantity>();
  for (const row of rows) {
    const known = out.get(row.link), name = about.parts.link[row.link]?.name ?? row.label;
    if (known) known.at.push(...row.at);
    else out.set(row.link, { ...row, key: `contact/${name}`, label: name, name: `${name} contact load`, at: [...row.at], how: "sum",
      title: `${name}: normal force of its contacts with the ground (${about.fields[row.field].name})` });
  }
  return [...out.values()];
}

export interface Contents {
  sections: Section[];
  all: Quantity[];
}

export function contentsOf(about: About, motion: string): Contents {
  const fields = about.fields.map((field, number) => ({ field, number, rows: quantitiesOf(about, number) }));
  const base: Quantity[] = [], joints: Quantity[] = [], inputs: Group[] = [], commands: Quantity[] = [], single: Quantity[] = [];
  const senses: Group[] = [], values: Quantity[] = [], state: Group[] = [], rest: Group[] = [];
  const targets = new Map(fields.find(({ field }) => field.name === "joint.target")?.rows
    .filter((row) => row.part === "joint").map((row) => [row.index, row]));
  const loads = motion === "points" || !about.fields.some(({ name }) => name === "contact.load") ? "point.load" : "contact.load";
  const group = (field: FieldInfo, rows: Quantity[], open: boolean): Group =>
    ({ title: field.name, text: field.text, rows, open });
  for (const { field, rows } of fields) {
    if (!rows.length) continue;
    const { name } = field, steers = /^(command|gait)\./.test(name);
    if (BASE[name]) base.push(...rows.map((row) => ({ ...row, label: BASE[name], name: BASE[name] })));
    else if (name === "joint.angle")
      joints.push(...rows.map((row) => ({ ...row, target: targets.get(row.index) })));
    else if (/^(ball\.orientation|free\.position)$/.test(name)) joints.push(...rows);
    else if (name === "joint.target") rest.push(group(field, rows.map((row) => ({ ...row, input: row.input && row.part === "joint" })), false));
    else if (field.input && rows.length === 1) (steers ? commands : single).push({ ...rows[0], label: name, name });
    else if (field.input) inputs.push(group(field, rows, name === "actuator.control" || steers));
    else if (name === loads) senses.push({ ...group(field, byLink(about, rows), true), title: "contact load" });
    else if (name === "sensor.value") senses.push({ ...group(field, rows, true), title: "sensors" });
    else if (name === "dock.state") senses.push({ ...group(field, rows, true), title: "docks" });
    else if (STATE.test(name) && rows.length === 1) values.push({ ...rows[0], label: name, name });
    else if (STATE.test(name)) state.push(group(field, rows, rows.length <= 12));
    else rest.push(group(field, rows, false));
  }
  const ending = /[_ ]joint$/; // where all have it, it says nothing
  if (joints.every(({ label }) => ending.test(label))) for (const row of joints) row.label = row.label.replace(ending, "");
  const plain = (rows: Quantity[]): Group[] => (rows.length ? [{ title: "", text: "", rows, open: true }] : []);
  inputs.sort((a, b) => Number(b.open) - Number(a.open));
  const sections = [{ title: "Base", groups: plain(base) }, { title: "Joints", groups: plain(joints) },
    { title: "State", groups: [...plain(values), ...state] }, { title: "Inputs", groups: [...plain([...commands, ...single]), ...inputs] },
    { title: "Contacts and sensors", groups: senses }, { title: "All fields", groups: rest }]
    .filter(({ groups }) => groups.length);
  return { sections, all: sections.flatMap(({ groups }) => groups.flatMap(({ rows }) => rows)) };
}

const ORDER = ["contact/", "joint.target", "joint.angle", "joint.rate", "joint.torque", "actuator."];

// The quantities of a link: its pose and motion, and what is of it in the robot's fields.
export function ofLink(about: About, contents: Contents, link: number, name: string): Quantity[] {
  const make = (label: string, at: number[], unit: string, more: Partial<Quantity> = {}): Quantity => ({
    key: `link ${name}/${label}`, label, name: `${name} ${label}`, title: `${label} of the link ${name} (world axes)`, field: -1,
    at, how: "values", heads: XYZ, unit, link, part: "link", index: link, input: false, low: null, high: null, ...more });
  const own = contents.all.filter((row) => row.link === link
    && (row.key.startsWith("contact/") || OF_LINK.test(about.fields[row.field].name)));
  const order = ({ key }: Quantity): number => {
    const found = ORDER.findIndex((start) => key.startsWith(start));
    return found < 0 ? ORDER.length : found;
  };
  const count = (kind: string): number => new Set(own.filter(({ part }) => part === kind).map(({ index }) => index)).size;
  const label = (row: Quantity): string => {
    const field = last(about.fields[row.field].name);
    if (row.key.startsWith("contact/")) return "contact load";
    if (row.key.startsWith("wrench.")) return `collision ${row.unit === "N" ? "force" : "torque"}`;
    return count(row.part) > 1 ? row.name : row.part === "joint" ? field : row.part === "actuator" ? `actuator ${field}` : row.name;
  };
  return [make("position", [0, 1, 2], "m"), make(TURN, [3, 4, 5, 6], "rad", { how: "angles", heads: ANGLES }),
    make("velocity", [7, 8, 9], "m/s"), make("angular velocity", [10, 11, 12], "rad/s"),
    ...own.sort((a, b) => order(a) - order(b)).map((row) => ({ ...row, target: undefined, label: label(row) }))];
}

// Those of a bar of a truss.
export const ofBar = (about: About, contents: Contents, bar: number): Quantity[] =>
  contents.all.filter((row) => row.part === "bar" && row.index === bar)
    .map((row) => ({ ...row, label: row.label === `bar ${bar}` ? last(about.fields[row.field].name)
      : `${last(about.fields[row.field].name)} ${row.label.replace(`bar ${bar} `, "")}` }));
