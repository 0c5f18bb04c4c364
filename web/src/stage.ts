// The stage: renderer, light with shadows, sky, ground with its grid, and the camera.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { bytes } from "./data";
import type { Description, Floor, Ground } from "./data";
import type { Layout } from "./layout";
import { paint } from "./shapes";
import { loadTexture } from "./texture";

interface Look {
  horizon: string;
  zenith: string;
  ground: string;
  line: string;
  fill: number; // light of the sky
  sun: number;
}

const DAY: Look = { horizon: "#e8eef3", zenith: "#6f9ac2", ground: "#d9d8d2", line: "#858b8e", fill: 1.35, sun: 2.7 };
const NIGHT: Look = { horizon: "#232a31", zenith: "#0c1116", ground: "#2c343b", line: "#6f7c86", fill: 1.1, sun: 2.2 };

// Colors of the page, not light, and from corner to corner, so that a pixel costs next to nothing.
const SKY_VERTEX = `
uniform vec3 horizon, zenith;
varying vec3 tone;
void main() {
  tone = mix(horizon, zenith, 1.0 - exp(-3.0 * max(normalize(position).z, 0.0)));
  gl_Position = projectionMatrix * vec4(mat3(modelViewMatrix) * position, 1.0);
  gl_Position.z = 0.9999999 * gl_Position.w;
}`;
const SKY_FRAGMENT = `
varying vec3 tone;
void main() {
  gl_FragColor = vec4(tone, 1.0);
}`;

const WIDE = 12; // [1] as often as the eye is high a level ground reaches, at least

const GROUND_HEAD = `
uniform vec3 line, horizon, middle;
uniform float grid, far, hilly, gridOn;
uniform vec2 span;
uniform float tiled;
uniform vec3 tileU, tileV;
varying vec3 groundAt;
float gridLines(float width, vec2 change) {
  vec2 p = groundAt.xy / width, d = change / width, away = abs(fract(p - 0.5) - 0.5) / max(d, vec2(1e-6));
  return (1.0 - min(min(away.x, away.y), 1.0)) * clamp(1.0 - 3.0 * max(d.x, d.y), 0.0, 1.0);
}
`;
const GROUND_COLOR = `
  float rise = clamp((groundAt.z - span.x) / max(span.y - span.x, 1e-6), 0.0, 1.0);
  diffuseColor.rgb *= hilly > 0.5 ? 0.72 + 0.4 * rise : 1.0;
  vec2 change = fwidth(groundAt.xy);
  float mark = gridOn * (1.0 - tiled) * max(0.35 * gridLines(grid, change), 0.8 * gridLines(10.0 * grid, change));
  diffuseColor.rgb = mix(diffuseColor.rgb, line, mark);
`;
// In place of a material's own texture coordinates: those of the place in the world.
const GROUND_TILE = `
#ifdef USE_MAP
  vec3 spot = vec3(groundAt.xy, 1.0);
  diffuseColor.rgb *= texture2D(map, vec2(dot(tileU, spot), dot(tileV, spot))).rgb;
#endif
`;
const GROUND_FADE = `
  gl_FragColor.rgb = mix(gl_FragColor.rgb, horizon,
    hilly > 0.5 ? 0.0 : smoothstep(0.15 * far, 0.9 * far, distance(groundAt.xy, middle.xy)));
`;

function relief(ground: Ground): THREE.BufferGeometry {
  const heights = new Float32Array(bytes(ground.heights)), { columns, rows, step } = ground;
  const position = new Float32Array(3 * heights.length), index = new Uint32Array(6 * (columns - 1) * (rows - 1));
  for (let i = 0; i < heights.length; i++)
    position.set([ground.origin[0] + (i % columns) * step, ground.origin[1] + Math.floor(i / columns) * step,
      heights[i]], 3 * i);
  let k = 0;
  for (let j = 0; j + 1 < rows; j++)
    for (let i = 0; i + 1 < columns; i++) {
      const a = j * columns + i, b = a + 1, c = b + columns, d = a + columns;
      index.set([a, b, c, a, c, d], k);
      k += 6;
    }
  const out = new THREE.BufferGeometry();
  out.setAttribute("position", new THREE.BufferAttribute(position, 3));
  out.setIndex(new THREE.BufferAttribute(index, 1));
  out.computeVertexNormals();
  return out;
}

// A level ground of cells that are the smaller the nearer: depths in triangles of kilometers are so inexact that
// what lies on the ground is hidden by it.
function plain(far: number): THREE.BufferGeometry {
  const out = new THREE.PlaneGeometry(2, 2, 32, 32), place = out.getAttribute("position");
  const spread = (x: number): number => far * x * x * x;
  for (let i = 0; i < place.count; i++) place.setXY(i, spread(place.getX(i)), spread(place.getY(i)));
  return out;
}

export class Stage {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(40, 1, 0.01, 1000);
  readonly renderer: THREE.WebGLRenderer;
  readonly controls: OrbitControls;
  readonly sun = new THREE.DirectionalLight();
  readonly grid: number; // [m] between lines
  private readonly fill = new THREE.HemisphereLight();
  private readonly sky: THREE.Mesh<THREE.SphereGeometry, THREE.ShaderMaterial>;
  private readonly ground: THREE.Mesh;
  private readonly lit = new THREE.MeshLambertMaterial();
  private readonly even = new THREE.MeshBasicMaterial(); // a level ground without shadows, for slow machines
  private readonly uniforms: Record<string, THREE.IUniform>;
  private readonly far: number; // [m] where a level ground ends
  private readonly heights: Float32Array; // [m] of hills
  private readonly toSun = new THREE.Vector3(0.45, -0.55, 1).normalize();
  private readonly dark = matchMedia("(prefers-color-scheme: dark)");
  private ratio = Math.min(devicePixelRatio, 2);
  private level = 0; // of simplicity
  private full = false;
  private shadowsWanted = true;

  constructor(readonly canvas: HTMLCanvasElement, description: Description, private readonly layout: Layout,
    private readonly slow: boolean) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !slow });
    if (slow) this.ratio = 1;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.NoToneMapping;
    this.grid = 10 ** Math.round(Math.log10(Math.max(layout.radius, layout.height / 8)) - 0.35);
    const hills = description.ground, size = Math.max(layout.radius + layout.spread, layout.reach / 2);
    const far = this.far = 30 * Math.max(layout.radius * Math.sqrt(layout.robots.length + 1), size);
    const heights = this.heights = hills ? new Float32Array(bytes(hills.heights)) : new Float32Array([0]);
    this.uniforms = {
      line: { value: new THREE.Color() }, horizon: { value: new THREE.Color() },
      middle: { value: new THREE.Vector3() }, grid: { value: this.grid }, far: { value: far },
      hilly: { value: hills ? 1 : 0 }, gridOn: { value: 1 },
      span: { value: new THREE.Vector2(heights.reduce((a, b) => Math.min(a, b)), heights.reduce((a, b) => Math.max(a, b))) },
      tiled: { value: 0 }, tileU: { value: new THREE.Vector3() }, tileV: { value: new THREE.Vector3() },
    };
    this.tileGround(description.floor);
    this.ground = hills ? this.hills(relief(hills))
      : new THREE.Mesh(plain(far), this.lit);
    for (const material of [this.lit, this.even]) this.markGround(material);
    this.ground.position.z = hills ? 0 : description.level ?? 0;
    this.ground.receiveShadow = true;
    this.ground.castShadow = Boolean(hills);
    this.ground.frustumCulled = false;
    this.sky = new THREE.Mesh(new THREE.SphereGeometry(1, 24, 48), new THREE.ShaderMaterial({
      vertexShader: SKY_VERTEX, fragmentShader: SKY_FRAGMENT, side: THREE.BackSide, depthWrite: false,
      uniforms: { horizon: { value: new THREE.Color() }, zenith: { value: new THREE.Color() } },
    }));
    this.sky.frustumCulled = false;
    this.sky.renderOrder = 1; // what is in front of it is there, so that only its own pixels are computed
    this.fill.position.set(0, 0, 1);
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.normalBias = 0.0;
    this.sun.shadow.bias = -0.0006;
    this.scene.add(this.sky, this.ground, this.fill, this.sun, this.sun.target);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.maxPolarAngle = 1.77;
    this.controls.zoomToCursor = false;
    this.dress();
    this.dark.addEventListener("change", () => this.dress());
  }

  // Robots that have worlds of their own have hills of their own.
  private hills(shape: THREE.BufferGeometry): THREE.Mesh {
    const { description, robots } = this.layout;
    if (!description.apart) return new THREE.Mesh(shape, this.lit);
    const all = new THREE.InstancedMesh(shape, this.lit, robots.length), place = new THREE.Matrix4();
    for (let r = 0; r < robots.length; r++) {
      const [x, y, z] = this.layout.shift(r);
      all.setMatrixAt(r, place.makeTranslation(x, y, z));
    }
    return all;
  }

  // The texture of the shape whose look the ground has, in place of the grid.
  private tileGround(floor?: Floor): void {
    if (!floor?.texture?.png || !floor.rows) return;
    const { tiled, tileU, tileV } = this.uniforms;
    this.lit.map = this.even.map = loadTexture(floor.texture);
    tiled.value = 1;
    tileU.value.fromArray(floor.rows, 0);
    tileV.value.fromArray(floor.rows, 3);
  }

  private markGround(material: THREE.Material): void {
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, this.uniforms);
      shader.vertexShader = shader.vertexShader.replace("#include <common>", "#include <common>\nvarying vec3 groundAt;")
        .replace("#include <begin_vertex>", "#include <begin_vertex>\ngroundAt = (modelMatrix * vec4(position, 1.0)).xyz;");
      shader.fragmentShader = shader.fragmentShader.replace("#include <common>", `#include <common>\n${GROUND_HEAD}`)
        .replace("#include <map_fragment>", GROUND_TILE)
        .replace("#include <color_fragment>", `#include <color_fragment>\n${GROUND_COLOR}`)
        .replace("#include <opaque_fragment>", `#include <opaque_fragment>\n${GROUND_FADE}`);
    };
  }

  private dress(): void {
    const look = this.dark.matches ? NIGHT : DAY;
    this.uniforms.horizon.value.set(look.horizon);
    this.uniforms.line.value.set(look.line);
    const { horizon, zenith } = this.sky.material.uniforms;
    horizon.value.set(look.horizon).convertLinearToSRGB();
    zenith.value.set(look.zenith).convertLinearToSRGB();
    const own = this.layout.description.floor, ground = own ? paint(own.color) : new THREE.Color(look.ground);
    this.lit.color.copy(ground);
    this.fill.intensity = look.fill;
    this.fill.color.set(look.horizon).lerp(new THREE.Color("#ffffff"), 0.5);
    this.fill.groundColor.set(look.ground).multiplyScalar(0.7);
    this.sun.intensity = look.sun;
    const light = this.fill.color.clone().multiplyScalar(look.fill).addScalar(look.sun * this.toSun.z);
    this.even.color.copy(ground).multiply(light.multiplyScalar(1 / Math.PI));
  }

  get light(): THREE.Vector3 {
    return this.toSun;
  }

  // ---- the camera --------------------------------------------------------------------------------

  look(at: number[], azimuth: number, elevation: number, distance: number): void {
    this.controls.target.set(at[0], at[1], at[2]);
    this.camera.position.set(Math.cos(azimuth) * Math.cos(elevation), Math.sin(azimuth) * Math.cos(elevation),
      Math.sin(elevation)).multiplyScalar(distance).add(this.controls.target);
    this.controls.update();
  }

  top(): void {
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.look(this.controls.target.toArray(), -Math.PI / 2, 1.5706, distance);
  }

  // Moves the eye with what it looks at.
  follow(at: number[], part: number): void {
    const step = new THREE.Vector3(at[0], at[1], at[2]).sub(this.controls.target).multiplyScalar(part);
    this.controls.target.add(step);
    this.camera.position.add(step);
  }

  // Takes the eye so many times as far away.
  away(factor: number): void {
    const { target } = this.controls;
    this.camera.position.sub(target).multiplyScalar(factor).add(target);
  }

  get distance(): number {
    return this.camera.position.distanceTo(this.controls.target);
  }

  // [m] Of the ground there; beside hills there is none.
  levelAt(x: number, y: number): number {
    const { ground, level } = this.layout.description;
    if (!ground) return level ?? 0;
    const i = Math.round((x - ground.origin[0]) / ground.step), j = Math.round((y - ground.origin[1]) / ground.step);
    const inside = i >= 0 && i < ground.columns && j >= 0 && j < ground.rows;
    return inside ? this.heights[j * ground.columns + i] : -Infinity;
  }

  // Whether hills are between.
  hides(at: THREE.Vector3, eye: THREE.Vector3): boolean {
    const way = new THREE.Vector3();
    for (let k = 1; this.layout.description.ground && k <= 40; k++) {
      way.lerpVectors(at, eye, k / 40);
      if (this.levelAt(way.x, way.y) > way.z) return true;
    }
    return false;
  }

  // ---- each picture ------------------------------------------------------------------------------

  gridOn(on: boolean): void {
    this.uniforms.gridOn.value = on ? 1 : 0;
  }

  // Cheaper pictures for slow machines: fewer pixels first, then no shadows, then fewer pixels again.
  simplify(level: number): void {
    this.level = level;
    this.dressFor(level);
  }

  // For a picture that stays: all of it, whatever it costs, and on slow machines smooth edges by more pixels.
  fine(on: boolean): void {
    this.full = on;
    this.dressFor(on ? 0 : this.level);
  }

  private dressFor(level: number): void {
    this.ratio = level > 2 ? 0.5 : level > 0 || (this.slow && !this.full) ? 1
      : this.slow ? 2 : Math.min(devicePixelRatio, 2);
    const size = level > 0 ? 1024 : 2048;
    if (this.sun.shadow.mapSize.x !== size) {
      this.sun.shadow.mapSize.set(size, size);
      this.sun.shadow.map?.dispose();
      this.sun.shadow.map = null;
    }
    this.shadows(this.shadowsWanted);
  }

  // Where nothing throws shadows the ground is not asked for them.
  shadows(on: boolean): void {
    this.shadowsWanted = on;
    let throws = false;
    this.scene.traverse((part) => { throws ||= part.castShadow && part !== this.sun; });
    this.sun.castShadow = on && throws && (this.full || this.level < 2);
    const level = !this.layout.description.ground;
    this.ground.material = this.slow && level && !this.sun.castShadow ? this.even : this.lit;
  }

  // The camera looks at the middle of what is not covered from below by so many pixels of other parts.
  resize(covered = 0): void {
    const wide = this.canvas.clientWidth, high = this.canvas.clientHeight;
    if (this.renderer.getPixelRatio() !== this.ratio) this.renderer.setPixelRatio(this.ratio);
    const size = this.renderer.getSize(new THREE.Vector2());
    if (size.x !== wide || size.y !== high) this.renderer.setSize(wide, high, false);
    this.camera.aspect = wide / Math.max(high, 1);
    // On narrow pages the angle is that across.
    const narrow = Math.min(1, this.camera.aspect / 1.2);
    this.camera.fov = 2 * Math.atan(Math.tan(20 * Math.PI / 180) / narrow) * 180 / Math.PI;
    this.camera.near = 0.01 * this.distance;
    const { ground, level } = this.layout.description, least = WIDE * (this.camera.position.z - (level ?? 0));
    this.camera.far = Math.max(100 * this.distance + 100, 2 * this.layout.spread + 2 * this.distance, 1.2 * least);
    this.uniforms.far.value = Math.min(Math.max(this.far, least), this.camera.far);
    if (!ground) this.ground.scale.setX(Math.max(1, least / this.far)).setY(this.ground.scale.x);
    if (covered > 0) this.camera.setViewOffset(wide, high, 0, covered / 2, wide, high);
    else this.camera.clearViewOffset();
    this.camera.updateProjectionMatrix();
  }

  // With the eye where the controls put it, or where it is.
  render(controlled: boolean): void {
    if (controlled) this.controls.update();
    const target = this.controls.target, all = 1.3 * (this.layout.description.apart
      ? 0.71 * this.layout.across * Math.max(...this.layout.gap) : this.layout.radius + this.layout.spread);
    const reach = Math.min(Math.max(all, 2 * this.layout.radius), 1.2 * this.distance);
    const box = this.sun.shadow.camera;
    this.uniforms.middle.value.copy(target);
    if (!this.layout.description.ground) this.ground.position.setX(target.x).setY(target.y);
    // In steps of a shadow's pixel, so that edges do not crawl.
    const texel = 2 * reach / this.sun.shadow.mapSize.x, snapped = target.clone().divideScalar(8 * texel).round()
      .multiplyScalar(8 * texel);
    this.sun.target.position.copy(snapped);
    this.sun.position.copy(snapped).addScaledVector(this.toSun, 4 * reach);
    box.left = box.bottom = -reach;
    box.right = box.top = reach;
    box.near = 0.1 * reach;
    box.far = 9 * reach;
    box.updateProjectionMatrix();
    this.renderer.render(this.scene, this.camera);
  }
}
