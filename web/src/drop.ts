// Files that are dropped on the page: one, several, or folders with all that is in them. What a robot's file
// names is laid where it looks for it.

export interface Dropped {
  path: string; // from the folder that was dropped on
  file: File;
}

const FILES = 4096; // as src/io/package.h
const HEAD = 65536; // bytes in which a file tells what it is

async function walk(entry: FileSystemEntry, out: Dropped[]): Promise<void> {
  if (entry.name.startsWith(".")) return; // of tools, not of the robot
  if (out.length > FILES) throw new Error(`The folder has more than ${FILES} files.`);
  if (entry.isFile) {
    const file = await new Promise<File>((good, bad) => (entry as FileSystemFileEntry).file(good, bad));
    out.push({ path: entry.fullPath.slice(1), file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) { // it gives some at a time
    const some = await new Promise<FileSystemEntry[]>((good, bad) => reader.readEntries(good, bad));
    if (!some.length) return;
    for (const inner of some) await walk(inner, out);
  }
}

// What a drop brings; the event may be over before this is.
export async function collect(transfer: DataTransfer | null): Promise<Dropped[]> {
  const entries = [...transfer?.items ?? []].map((item) => item.webkitGetAsEntry());
  const files = [...transfer?.files ?? []], out: Dropped[] = [];
  if (!entries.some((entry) => entry)) return files.map((file) => ({ path: file.name, file }));
  for (const entry of entries) if (entry) await walk(entry, out);
  return out;
}

const depth = (path: string): number => path.split("/").length;

// Robots and scenes among them, the outermost ones.
export async function robotsIn(list: Dropped[]): Promise<Dropped[]> {
  const found: Dropped[] = [];
  for (const one of list) {
    if (!/\.(urdf|xml|yaml)$/.test(one.path)) continue;
    const head = await one.file.slice(0, HEAD).text();
    const fits = one.path.endsWith(".yaml") ? /^["']?groups["']?\s*:/m.test(head) : /<(robot|mujoco)[\s>]/.test(head);
    if (fits) found.push(one);
  }
  const least = Math.min(...found.map(({ path }) => depth(path)));
  return found.filter(({ path }) => depth(path) === least).sort((a, b) => (a.path < b.path ? -1 : 1));
}

// A path without "." and "..", which may take as many parts away as there are.
function straight(path: string): string {
  const out: string[] = [];
  for (const part of path.split("/"))
    if (part === "..") out.pop();
    else if (part && part !== ".") out.push(part);
  return out.join("/");
}

// Loose files are laid where the robot looks for files of their names: "meshes/leg.stl" of leg.stl. The robot
// gets a folder of its own, so that it can look beside that, too.
export async function arrange(list: Dropped[], main: Dropped): Promise<{ list: Dropped[]; main: string }> {
  if (list.some(({ path }) => path.includes("/"))) return { list, main: main.path };
  const text = await main.file.text(), folder = "robot", out: Dropped[] = [];
  const all = (words: RegExp): string[] => [...text.matchAll(words)].map((match) => match[1]);
  const folders = ["", ...all(/(?:mesh|asset|texture)dir\s*=\s*["']([^"']*)["']/g)];
  const named = all(/(?:file|filename)\s*=\s*["']([^"']+)["']/g).map((name) => name.replace(/^(package|model):\/+/, ""));
  for (const { path, file } of list) {
    const places = new Set([path]);
    for (const name of named)
      if (name === path || name.endsWith(`/${path}`)) for (const inner of folders) places.add(`${inner}/${name}`);
    for (const place of places) out.push({ path: straight(`${folder}/${place}`), file });
  }
  const seen = new Set<string>();
  return { main: `${folder}/${main.path}`,
    list: out.filter(({ path }) => !seen.has(path) && seen.add(path) && !/(^|\/)\./.test(path)) };
}

// As src/io/package.h reads it.
export function bundle(list: Dropped[]): Blob {
  return new Blob(list.flatMap(({ path, file }) => {
    const name = new TextEncoder().encode(path), head = new DataView(new ArrayBuffer(8));
    head.setUint32(0, name.length, true);
    head.setUint32(4, file.size, true);
    return [head.buffer as ArrayBuffer, name, file];
  }));
}
