// Words beside what is drawn: forces of joints, names of robots.
import * as THREE from "three";
import { make } from "./page";

export interface Label {
  at: THREE.Vector3;
  text: string;
}

const BESIDE = 14; // [pixel] from what it belongs to

interface Box { // [pixel]
  left: number;
  top: number;
  wide: number;
  high: number;
}

const overlap = (a: Box, b: Box): boolean => a.left < b.left + b.wide && b.left < a.left + a.wide
  && a.top < b.top + b.high && b.top < a.top + a.high;

export class Labels {
  private readonly sizes: [number, number][] = []; // [pixel] of the texts

  constructor(private readonly place: HTMLElement) {}

  // Right of their points, else left of them; a label that would cover an earlier one is left away.
  update(labels: Label[], camera: THREE.PerspectiveCamera, canvas: HTMLCanvasElement): void {
    while (this.place.children.length < labels.length) this.place.append(make("span"));
    const spans = [...this.place.children] as HTMLElement[], taken: Box[] = [];
    labels.forEach(({ text }, i) => {
      if (spans[i].textContent === text && this.sizes[i]?.[0]) return;
      spans[i].textContent = text;
      spans[i].hidden = false;
      this.sizes[i] = [spans[i].offsetWidth, spans[i].offsetHeight];
    });
    spans.forEach((span, i) => {
      const seen = labels[i]?.at.clone().project(camera);
      span.hidden = !seen || !(seen.z < 1 && Math.abs(seen.x) < 1.2 && Math.abs(seen.y) < 1.2);
      if (span.hidden) return;
      const [wide, high] = this.sizes[i], x = 0.5 * (1 + seen.x) * canvas.clientWidth;
      const top = 0.5 * (1 - seen.y) * canvas.clientHeight - high / 2;
      const box = [x + BESIDE, x - BESIDE - wide].map((left) => ({ left, top, wide, high }))
        .find((own) => !taken.some((other) => overlap(own, other)));
      span.hidden = !box;
      if (!box) return;
      taken.push(box);
      span.style.transform = `translate(${box.left.toFixed(1)}px,${top.toFixed(1)}px)`;
    });
  }
}
