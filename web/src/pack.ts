// Whole numbers as src/view/film_pack.c packs them, column by column.
import { bytes } from "./data";

export async function inflate(text: string): Promise<ArrayBuffer> {
  const stream = new Blob([bytes(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

export async function unpack(text: string, columns: number, frames: number): Promise<Int32Array> {
  const size = columns * frames, planes = new Uint8Array(await inflate(text));
  if (planes.length !== 4 * size) throw new Error("the film is damaged: make it again");
  const out = new Int32Array(size);
  for (let c = 0, i = 0; c < columns; c++)
    for (let s = 0, before = 0, last = 0; s < frames; s++, i++) {
      const folded = planes[i] | planes[size + i] << 8 | planes[2 * size + i] << 16 | planes[3 * size + i] << 24;
      const now = ((folded >>> 1 ^ -(folded & 1)) + 2 * last - before) | 0;
      before = s > 0 ? last : now;
      last = out[i] = now;
    }
  return out;
}

// Floats of which the bits were packed, row by row.
export async function unpackRows(text: string, columns: number, frames: number): Promise<Float32Array> {
  const bits = new Float32Array((await unpack(text, columns, frames)).buffer), out = new Float32Array(bits.length);
  for (let c = 0; c < columns; c++)
    for (let s = 0; s < frames; s++) out[s * columns + c] = bits[c * frames + s];
  return out;
}
