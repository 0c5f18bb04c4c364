// Meshes as src/view/film_mesh.c packs them: triangles from neighbor to neighbor, vertices by what
// is left of the corner of a parallelogram.
import { bytes } from "./data";
import type { Description, MeshData } from "./data";

class Reader {
  readonly corners: Uint32Array;
  readonly places: Uint16Array;
  private readonly used = new Set<number>(); // edges, in their direction
  private readonly gates: [number, number, number][] = []; // ends, the vertex behind
  private code = 0;
  private known = 0;
  private filled = 0;

  constructor(private readonly data: MeshData, private readonly planes: Uint8Array) {
    if (planes.length !== 4 * data.codes + 6 * data.vertices)
      throw new Error("a mesh of the film is damaged: make it again");
    this.corners = new Uint32Array(3 * data.triangles);
    this.places = new Uint16Array(3 * data.vertices);
  }

  private next(): number {
    const { planes } = this, { codes } = this.data, i = this.code++;
    if (i >= codes) throw new Error("a mesh of the film is damaged: make it again");
    return planes[i] | planes[codes + i] << 8 | planes[2 * codes + i] << 16 | planes[3 * codes + i] << 24;
  }

  // The corner of that code; a new vertex is near (x, y, z).
  private vertex(code: number, expected: number[]): number {
    if (code !== 1) return this.known - code + 1;
    const { vertices, codes } = this.data, first = 4 * codes + this.known;
    for (let c = 0; c < 3; c++) {
      const rest = this.planes[first + c * vertices] | this.planes[first + (3 + c) * vertices] << 8;
      this.places[3 * this.known + c] = expected[c] + (rest >>> 1 ^ -(rest & 1));
    }
    return this.known++;
  }

  private open(from: number, to: number, behind: number): void {
    this.used.add(from * this.data.vertices + to);
    this.gates.push([from, to, behind]);
  }

  private at(vertex: number): number[] {
    return [...this.places.subarray(3 * vertex, 3 * vertex + 3)];
  }

  private pass([from, to, behind]: [number, number, number]): void {
    const back = to * this.data.vertices + from;
    if (this.used.has(back)) return;
    const code = this.next();
    if (code === 0) return;
    const { places } = this;
    const third = this.vertex(code, [0, 1, 2].map((c) => places[3 * from + c] + places[3 * to + c] - places[3 * behind + c]));
    this.corners.set([to, from, third], this.filled);
    this.filled += 3;
    this.used.add(back);
    this.open(from, third, to);
    this.open(third, to, from);
  }

  read(): void {
    for (let last = [0, 0, 0]; this.filled < this.corners.length;) {
      const corners: number[] = [];
      for (let k = 0; k < 3; k++) {
        corners.push(this.vertex(this.next(), last));
        last = this.at(corners[k]);
      }
      this.corners.set(corners, this.filled);
      this.filled += 3;
      for (let k = 0; k < 3; k++) this.open(corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]);
      for (let gate = this.gates.pop(); gate; gate = this.gates.pop()) this.pass(gate);
    }
  }
}

async function inflate(packed: string): Promise<Uint8Array> {
  const stream = new Blob([bytes(packed)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Coordinates of corners from the last ones at a vertex or, at a new one, of the corner before.
function readSpots(corners: Uint32Array, planes: Uint8Array): Uint16Array {
  const count = corners.length, out = new Uint16Array(2 * count), last = new Map<number, number>();
  if (planes.length !== 4 * count) throw new Error("a mesh of the film is damaged: make it again");
  for (let i = 0; i < count; i++) {
    const before = last.get(corners[i]) ?? i - 1;
    for (let c = 0; c < 2; c++) {
      const rest = planes[2 * c * count + i] | planes[(2 * c + 1) * count + i] << 8;
      out[2 * i + c] = (before < 0 ? 0 : out[2 * before + c]) + (rest >>> 1 ^ -(rest & 1));
    }
    last.set(corners[i], i);
  }
  return out;
}

async function unpackMesh(data: MeshData): Promise<void> {
  const reader = new Reader(data, await inflate(data.packed));
  reader.read();
  data.places = reader.places;
  data.corners = reader.corners;
  if (data.coordinates) data.spots = readSpots(reader.corners, await inflate(data.coordinates));
}

// All meshes of a description, before it is drawn; casts take those of casts that they are like.
export async function unpackMeshes(description: Description): Promise<void> {
  for (const cast of description.casts)
    if (cast.like !== undefined)
      ({ meshes: cast.meshes, textures: cast.textures } = description.casts[cast.like]);
  const meshes = description.casts.flatMap((cast) => cast.meshes);
  await Promise.all(meshes.map((mesh) => (mesh ? unpackMesh(mesh) : null)));
}
