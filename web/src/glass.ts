// Walls before robots: where what cannot move hides most of what the camera follows, as the sides of a bin do, only
// every fourth pixel of it is drawn, in a cone from the eye around what is followed.
import * as THREE from "three";

const SAMPLES = 8; // robots, or links of one, that are looked for
const TRIANGLES = 5e3; // of walls, more of which are not asked in each picture
const WIDER = 1.2; // [1] than what is followed the cone is
const HIDDEN = 0.5; // [1] of the samples, from which on walls are glass
const WALL = `
varying vec3 wallAt;
varying float wallUp;
`;
const WALL_VERTEX = `
  vec4 wallPlace = vec4(transformed, 1.0);
  #ifdef USE_INSTANCING
    wallPlace = instanceMatrix * wallPlace;
  #endif
  wallAt = (modelMatrix * wallPlace).xyz;
  wallUp = normal.z;
`;
// Floors that robots stand on are below them, and level.
const WALL_FRAGMENT = `
  vec3 toSeen = seen.xyz - cameraPosition, toWall = wallAt - cameraPosition;
  float part = dot(toWall, toSeen) / dot(toSeen, toSeen);
  bool cone = part < 1.0 && length(toWall - part * toSeen) < part * seen.w;
  bool lies = wallUp > 0.7 && wallAt.z < seen.z;
  vec2 pixel = mod(floor(gl_FragCoord.xy), 2.0);
  if (cone && !lies && pixel.x + pixel.y > 0.5) discard;
`;

export class Glass {
  private readonly seen = { value: new THREE.Vector4(0, 0, 0, -1) }; // [m] middle and radius
  private readonly walls: THREE.Mesh[] = [];
  private readonly made = new Map<THREE.Material, THREE.Material>(); // of each look the one of glass
  private readonly bare = new Map<THREE.Material, THREE.Material>(); // and back
  private readonly ray = new THREE.Raycaster();
  private triangles = 0;

  // The look of a wall that otherwise looks like this: made when it is needed, because programs take long to make.
  private of(look: THREE.Material): THREE.Material {
    const known = this.made.get(look);
    if (known) return known;
    const out = look.clone();
    out.onBeforeCompile = (shader, renderer) => {
      look.onBeforeCompile(shader, renderer);
      shader.uniforms.seen = this.seen;
      shader.vertexShader = shader.vertexShader.replace("#include <common>", `#include <common>\n${WALL}`)
        .replace("#include <project_vertex>", `${WALL_VERTEX}\n#include <project_vertex>`);
      shader.fragmentShader = shader.fragmentShader
        .replace("#include <common>", `#include <common>\n${WALL}\nuniform vec4 seen;`)
        .replace("#include <clipping_planes_fragment>", `#include <clipping_planes_fragment>\n${WALL_FRAGMENT}`);
    };
    out.customProgramCacheKey = () => `wall ${look.customProgramCacheKey()}`;
    this.made.set(look, out);
    this.bare.set(out, look);
    return out;
  }

  add(wall: THREE.Mesh): void {
    this.walls.push(wall);
    this.triangles += (wall.geometry.getIndex()?.count ?? wall.geometry.getAttribute("position").count) / 3;
  }

  // [m] What is followed: `count` points, of which some are looked for, and the sphere around it.
  update(eye: THREE.Vector3, middle: number[], radius: number, count: number, point: (i: number, out: THREE.Vector3) => void): void {
    this.seen.value.set(middle[0], middle[1], middle[2], -1);
    if (!this.walls.length || this.triangles > TRIANGLES) return;
    const at = new THREE.Vector3(), step = Math.max(1, Math.floor(count / SAMPLES));
    let asked = 0, hidden = 0;
    for (let i = 0; i < count; i += step, asked++) {
      point(i, at);
      const way = at.clone().sub(eye);
      this.ray.set(eye, way.clone().normalize());
      this.ray.far = way.length();
      if (this.ray.intersectObjects(this.walls, false).length) hidden++;
    }
    const on = hidden > HIDDEN * asked;
    if (on) this.seen.value.w = WIDER * radius;
    for (const wall of this.walls) {
      const look = this.bare.get(wall.material as THREE.Material) ?? (wall.material as THREE.Material);
      wall.material = on ? this.of(look) : look;
      wall.castShadow = wall.receiveShadow && !on; // which would be dark inside
    }
  }
}
