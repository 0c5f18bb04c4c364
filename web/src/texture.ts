// Textures of shapes. A cube's faces are one picture, one below the other, of which the shader takes
// the part that a direction sees, as src/camera/texture.c does.
import * as THREE from "three";
import type { TextureData } from "./data";

const CUBE_HEAD = `
varying vec3 wayTo;
uniform sampler2D cube;
vec2 cubePlace(vec3 d) {
  vec3 size = abs(d);
  float face, ahead;
  vec2 side;
  if (size.x >= size.y && size.x >= size.z) {
    face = d.x < 0.0 ? 1.0 : 0.0; ahead = size.x; side = vec2(d.x < 0.0 ? d.z : -d.z, -d.y);
  } else if (size.y >= size.z) {
    face = d.y < 0.0 ? 3.0 : 2.0; ahead = size.y; side = vec2(d.x, d.y < 0.0 ? -d.z : d.z);
  } else {
    face = d.z < 0.0 ? 5.0 : 4.0; ahead = size.z; side = vec2(d.z < 0.0 ? -d.x : d.x, -d.y);
  }
  vec2 place = 0.5 * (side / max(ahead, 1e-9) + 1.0);
  float rim = 0.5 / float(textureSize(cube, 0).x);
  return vec2(place.x, (face + clamp(place.y, rim, 1.0 - rim)) / 6.0);
}
`;

// Its rows are from the top, as in the file.
export function loadTexture(data: TextureData): THREE.Texture {
  const out = new THREE.TextureLoader().load(`data:image/png;base64,${data.png}`);
  out.colorSpace = THREE.SRGBColorSpace;
  out.flipY = false;
  out.wrapS = out.wrapT = data.cube ? THREE.ClampToEdgeWrapping : THREE.RepeatWrapping;
  out.anisotropy = 8;
  if (data.cube) {
    out.generateMipmaps = false;
    out.minFilter = THREE.LinearFilter;
  }
  return out;
}

// A material as `plain`, with a texture.
export function textured(plain: THREE.MeshStandardMaterial | THREE.MeshLambertMaterial, data: TextureData): THREE.Material {
  const out = plain.clone(), texture = loadTexture(data);
  if (!data.cube) {
    out.map = texture;
    return out;
  }
  out.onBeforeCompile = (shader) => {
    shader.uniforms.cube = { value: texture };
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nattribute vec3 way;\nvarying vec3 wayTo;")
      .replace("#include <begin_vertex>", "#include <begin_vertex>\nwayTo = way;");
    shader.fragmentShader = shader.fragmentShader.replace("#include <common>", `#include <common>\n${CUBE_HEAD}`)
      .replace("#include <color_fragment>",
        "#include <color_fragment>\ndiffuseColor.rgb *= texture2D(cube, cubePlace(wayTo)).rgb;");
  };
  out.customProgramCacheKey = () => "cube";
  return out;
}
