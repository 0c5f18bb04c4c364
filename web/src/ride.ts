// The view of a robot's own camera.
import * as THREE from "three";
import { POSE } from "./data";
import type { Frame, OwnCamera, Robot } from "./data";
import type { Layout } from "./layout";

// A camera of the page looks along -z with y up; one of a robot along x with z up.
const AXES = new THREE.Quaternion().setFromRotationMatrix(new THREE.Matrix4().makeBasis(
  new THREE.Vector3(0, -1, 0), new THREE.Vector3(0, 0, 1), new THREE.Vector3(-1, 0, 0)));

export class Ride {
  robot = -1;
  private index = -1; // of the robot's cameras

  constructor(private readonly robots: Robot[], private readonly layout: Layout) {}

  get camera(): OwnCamera | null {
    return this.robots[this.robot]?.cast.cameras?.[this.index] ?? null;
  }

  get exists(): boolean {
    return this.robots.some((robot) => robot.cast.cameras?.length);
  }

  // The next camera of the selected robot, or of the first that has one; after the last one none.
  next(selected: number): void {
    const has = (r: number): boolean => Boolean(this.robots[r]?.cast.cameras?.length);
    const robot = has(selected) ? selected : this.robots.findIndex((_, r) => has(r));
    this.index = robot === this.robot ? this.index + 1 : 0;
    this.robot = robot;
    if (!this.camera) this.end();
  }

  end(): void {
    this.robot = this.index = -1;
  }

  // Puts the page's camera there. A page that is narrower than the picture shows all of its width.
  place(frame: Frame, eye: THREE.PerspectiveCamera): void {
    const own = this.camera;
    if (!own) return;
    const p = frame.poses, i = POSE * (this.robots[this.robot].first + own.link);
    const turn = new THREE.Quaternion(p[i + 4], p[i + 5], p[i + 6], p[i + 3]).normalize();
    const [w, x, y, z] = own.turn;
    eye.position.set(...(own.place as [number, number, number])).applyQuaternion(turn)
      .add(new THREE.Vector3().fromArray(p, i)).add(new THREE.Vector3(...this.layout.shift(this.robot)));
    eye.quaternion.copy(turn).multiply(new THREE.Quaternion(x, y, z, w).normalize()).multiply(AXES);
    const narrow = Math.min(1, eye.aspect / own.aspect);
    eye.fov = 2 * Math.atan(Math.tan(own.height / 2) / narrow) * 180 / Math.PI;
    eye.near = own.nearest;
    eye.far = Math.max(eye.far, 1000 * own.nearest);
    eye.updateProjectionMatrix();
  }
}
