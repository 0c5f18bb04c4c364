// Words beside what is drawn: forces of joints, names of robots.
import * as THREE from "three";
import { make } from "./page";

export interface Label {
  at: THREE.Vector3;
  text: string;
}

export class Labels {
  constructor(private readonly place: HTMLElement) {}

  update(labels: Label[], camera: THREE.PerspectiveCamera, canvas: HTMLCanvasElement): void {
    while (this.place.children.length < labels.length) this.place.append(make("span"));
    [...this.place.children].forEach((child, i) => {
      const span = child as HTMLElement, label = labels[i];
      if (!label) {
        span.hidden = true;
        return;
      }
      const seen = label.at.clone().project(camera);
      span.hidden = !(seen.z < 1 && Math.abs(seen.x) < 1.2 && Math.abs(seen.y) < 1.2);
      if (span.textContent !== label.text) span.textContent = label.text;
      span.style.transform = `translate(${(0.5 * (1 + seen.x) * canvas.clientWidth + 14).toFixed(1)}px,`
        + `calc(${(0.5 * (1 - seen.y) * canvas.clientHeight).toFixed(1)}px - 50%))`;
    });
  }
}
