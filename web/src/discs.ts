// Discs that face the eye, lit as spheres: one corner each, for particles and for robots far away.
import * as THREE from "three";

const VERTEX = `
uniform float size;
#ifdef USE_COLOR
varying vec3 own;
#endif
void main() {
#ifdef USE_COLOR
  own = color;
#endif
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  gl_PointSize = max(size / gl_Position.w, 1.5);
  if (!(abs(position.x) < 1e30)) gl_Position = vec4(2.0, 2.0, 2.0, 1.0); // not in the world
}`;
const FRAGMENT = `
uniform vec3 color, light, up, sky;
uniform float opacity;
#ifdef USE_COLOR
varying vec3 own;
#else
#define own color
#endif
void main() {
  vec2 at = 2.0 * gl_PointCoord - 1.0;
  float square = dot(at, at);
  if (square > 1.0) discard;
  vec3 normal = vec3(at.x, -at.y, sqrt(1.0 - square));
#ifdef WET
  normal = normalize(mix(normal, up, 0.7)); // drops side by side are one surface
#endif
  float day = max(dot(normal, light), 0.0);
  vec3 seen = own * (0.45 + 0.7 * day);
#ifdef WET
  vec3 ray = reflect(vec3(0.0, 0.0, -1.0), normal);
  seen = mix(seen, sky, 0.05 + 0.6 * pow(1.0 - max(normal.z, 0.0), 2.5)) + 0.15 * pow(max(dot(ray, light), 0.0), 6.0);
#endif
  gl_FragColor = vec4(seen, opacity);
  #include <colorspace_fragment>
}`;

export class Discs {
  readonly points: THREE.Points;
  readonly place: THREE.BufferAttribute;
  colors: THREE.BufferAttribute | null = null; // of each, in place of that of all
  private readonly uniforms;
  private readonly material: THREE.ShaderMaterial;

  // Wet ones are drops of a fluid, which has a surface that mirrors the sky.
  constructor(most: number, readonly radius: number, color: THREE.Color, { wet = false, opacity = 1 } = {}) {
    const geometry = new THREE.BufferGeometry();
    this.place = new THREE.BufferAttribute(new Float32Array(3 * most), 3);
    this.place.setUsage(THREE.DynamicDrawUsage);
    geometry.setAttribute("position", this.place);
    this.uniforms = { size: { value: 1 }, color: { value: color }, light: { value: new THREE.Vector3() },
      up: { value: new THREE.Vector3() }, sky: { value: new THREE.Color("#b9d3ea") }, opacity: { value: opacity } };
    this.material = new THREE.ShaderMaterial({
      vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms: this.uniforms, defines: wet ? { WET: "" } : {},
      transparent: opacity < 1,
    });
    this.points = new THREE.Points(geometry, this.material);
    this.points.frustumCulled = false;
    geometry.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity); // not asked of NaN
  }

  // With a color of each, to be written to `colors`.
  paint(on: boolean): void {
    this.colors = on ? new THREE.BufferAttribute(new Float32Array(this.place.array.length), 3) : null;
    if (this.colors) this.points.geometry.setAttribute("color", this.colors);
    else this.points.geometry.deleteAttribute("color");
    this.material.vertexColors = on;
    this.material.needsUpdate = true;
  }

  // After `place` was written: how many there are, and as what size they are seen.
  update(count: number, camera: THREE.PerspectiveCamera, high: number, light: THREE.Vector3): void {
    this.points.geometry.setDrawRange(0, count);
    this.points.visible = count > 0;
    this.place.clearUpdateRanges();
    this.place.addUpdateRange(0, 3 * count);
    this.place.needsUpdate = count > 0;
    if (this.colors) this.colors.needsUpdate = true;
    this.uniforms.size.value = this.radius * high / Math.tan(camera.fov * Math.PI / 360);
    this.uniforms.light.value.copy(light).transformDirection(camera.matrixWorldInverse);
    this.uniforms.up.value.set(0, 0, 1).transformDirection(camera.matrixWorldInverse);
  }
}
