// The tree of a scene: groups, their robots, and the links of the selected one, with a filter.
import { isCloth } from "./data";
import type { Cast, Description, Robot } from "./data";
import { byId, make } from "./page";
import { store, stored } from "./store";

const MOST = 100; // robots of a group, and links, that are listed
const SETTINGS = "mayfly-tree";

export const linksOf = (cast: Cast): { name: string; parent: number; joint: string }[] =>
  (isCloth(cast) || (cast.bodies?.length ?? 0) < 2 ? [] : cast.bodies!.map(({ name }, l) =>
    ({ name: name ?? `link ${l}`, parent: cast.tracks?.[l]?.parent ?? -1, joint: cast.tracks?.[l]?.joint ?? "" })));

// Of the links that the page draws, also of trusses, where each bar has two.
export function linkName(cast: Cast, link: number): string {
  if (link < 0 || isCloth(cast) || cast.links < 2) return "";
  return linksOf(cast)[link]?.name ?? (cast.motion === "quasistatic" || cast.motion === "elastic" ? `bar ${link >> 1}` : `link ${link}`);
}

export class Tree {
  private readonly place = byId("tree");
  private readonly list = make("div");
  private readonly filter = make("input");
  private readonly settings = stored<{ open: boolean }>(SETTINGS, { open: false });
  private robot = -1;
  private link = -1;

  constructor(private readonly description: Description, private readonly robots: Robot[],
    private readonly nameOf: (robot: number) => string, private readonly select: (robot: number, link: number) => void) {
    this.filter.type = "search";
    this.filter.placeholder = "filter: a robot, link or joint";
    this.filter.setAttribute("aria-label", "filter the tree");
    this.filter.oninput = () => this.show();
    const head = make("h2", "Scene"), close = make("button", "×");
    close.setAttribute("aria-label", "close the tree");
    close.onclick = () => this.toggle();
    head.append(close);
    this.place.append(head, this.filter, this.list);
    this.place.hidden = !this.settings.open;
    this.show();
  }

  get on(): boolean {
    return !this.place.hidden;
  }

  toggle(): void {
    this.place.hidden = !this.place.hidden;
    this.settings.open = this.on;
    store(SETTINGS, this.settings);
    this.show();
    dispatchEvent(new Event("resize")); // plots have more or less space
  }

  at(robot: number, link: number): void {
    if (robot === this.robot && link === this.link) return;
    this.robot = robot;
    this.link = link;
    this.show();
    this.list.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
  }

  private show(): void {
    if (!this.on) return;
    const words = this.filter.value.toLowerCase().split(/\s+/).filter((word) => word);
    const fits = (text: string): boolean => words.every((word) => text.toLowerCase().includes(word));
    const groups = new Map<string, number[]>();
    this.robots.forEach(({ cast }, r) => groups.set(cast.name, [...groups.get(cast.name) ?? [], r]));
    const rows: HTMLElement[] = [];
    for (const [name, members] of groups) {
      const several = members.length > 1;
      const own = members.flatMap((r) => this.rowsOf(r, several ? 1 : 0, fits, words.length > 0, members[0]));
      if (!own.length) continue;
      if (several) rows.push(this.line(`${name} (${members.length})`, 0, "group"));
      rows.push(...own.slice(0, MOST), ...(own.length > MOST ? [this.line(`${own.length - MOST} more`, 1, "unit")] : []));
    }
    for (const cloud of this.description.clouds)
      if (!words.length) rows.push(this.line(`${cloud.of} particles`, 0, "group"));
    this.list.replaceChildren(...rows);
  }

  private line(text: string, depth: number, kind: string, act?: () => void): HTMLElement {
    const line = act ? make("button", text, kind) : make("div", text, kind);
    line.style.paddingLeft = `${4 + 12 * depth}px`;
    if (act) line.onclick = act;
    return line;
  }

  // A robot, and its links if it is selected, or, of the first of a group, if they are looked for.
  private rowsOf(r: number, depth: number, fits: (text: string) => boolean, filters: boolean, first: number): HTMLElement[] {
    const { cast } = this.robots[r], name = this.nameOf(r), chosen = r === this.robot, out: HTMLElement[] = [];
    const shown = chosen || (filters && (this.robot < 0 || this.robots[this.robot].cast !== cast) && r === first);
    const links = shown || (this.robots.length === 1 && !filters) ? linksOf(cast) : [], depths: number[] = [];
    links.forEach(({ name: link, parent, joint }, l) => {
      depths[l] = parent < 0 ? 0 : depths[parent] + 1;
      if (filters && !fits(`${name} ${link} ${joint}`)) return;
      const row = this.line(link, filters ? depth + 1 : Math.min(depth + 1 + depths[l], 9),
        chosen && l === this.link ? "chosen" : "", () => this.select(r, l));
      if (joint && joint !== link) row.append(make("small", joint));
      out.push(row);
    });
    if (out.length || !filters || fits(name))
      out.unshift(this.line(name, depth, chosen && this.link < 0 ? "chosen" : "", () => this.select(r, -1)));
    return out;
  }
}
