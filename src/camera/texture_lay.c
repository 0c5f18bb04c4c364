// How textures of materials lie on shapes, as in MuJoCo.
//
// A flat texture lies on a shape's x-y plane: with the half edges h of its box and the material's
// repeats r a point has the place (r0 x / h0 / 2 - 1 / 2, -r1 y / h1 / 2 - 1 / 2), with texuniform
// without h. A cube is seen in the direction of the point from the origin, in units of h or, with
// texuniform, in meters. Meshes with texture coordinates have those of their triangles.
#include "camera/texture.h"

#include "model/shape_kinds.h"
#include "math/scalar.h"

#include <string.h>

// [m] Half the edges of the box around a shape, as MuJoCo counts them (without the caps of a
// capsule), and its middle; 1 where it has no end.
static void half_edges(const mf_Model *model, const mf_Shape *shape, double middle[3],
                       double out[3]) {
    double half[3];
    mf_vec3_set(middle, 0.0, 0.0, 0.0);
    mf_shape_half(shape->type, shape->size, half);
    mf_vec3_copy(out, half);
    if (shape->type == MF_SHAPE_MESH)
        mf_mesh_box(&model->meshes[shape->mesh], middle, out);
    else if (shape->type == MF_SHAPE_HEIGHTS)
        memcpy(out, model->height_fields[shape->mesh].half_size, 2 * sizeof *out);
    else if (mf_shape_kinds[shape->type].half_count < 3)
        mf_vec3_set(out, half[0], half[0],
                    half[mf_shape_kinds[shape->type].half_count == 1 ? 0 : 1]);
    for (int c = 0; c < 3; c++)
        out[c] = out[c] > 0.0 ? out[c] : 1.0;
}

bool mf_texture_lay(const mf_Model *model, const mf_Shape *shape, mf_TextureLay *out) {
    double half[3], middle[3];
    if (shape->material == MF_NONE || model->materials[shape->material].texture == MF_NONE)
        return false;
    const mf_Material *material = &model->materials[shape->material];
    const mf_Mesh *mesh = shape->type == MF_SHAPE_MESH ? &model->meshes[shape->mesh] : NULL;
    *out = (mf_TextureLay){.texture = material->texture};
    out->cube = model->textures[material->texture].type != MF_TEXTURE_FLAT;
    out->placed = mesh != NULL && mesh->coordinates != NULL;
    if (out->cube && out->placed)
        return false; // coordinates are of flat textures
    half_edges(model, shape, middle, half);
    for (int c = 0; c < 3; c++)
        out->factor[c] = material->uniform || (out->cube && mesh != NULL) ? 1.0 : 1.0 / half[c];
    for (int c = 0; c < 2 && !out->cube; c++) {
        out->factor[c] *= (c == 0 ? 0.5 : -0.5) * material->repeat[c];
        out->offset[c] = -0.5 - out->factor[c] * middle[c];
    }
    if (out->cube && shape->type == MF_SHAPE_CAPSULE) {
        out->half = half[2] * out->factor[2];
        out->stretch = half[2] / half[0];
    }
    return true;
}

bool mf_texture_is_floor(const mf_Terrain *terrain, const mf_Shape *shape) {
    const bool hilly = terrain != NULL && terrain->lowest < terrain->highest;
    const double level = terrain != NULL ? terrain->highest : 0.0;
    const double x = shape->rotation[1], y = shape->rotation[2];
    const float *color = shape->color;
    const bool gray =
        color[0] == color[1] && color[1] == color[2] && (color[0] == 0.5f || color[0] == 0.6f);
    if (shape->link != MF_NONE || (shape->material == MF_NONE && gray))
        return false;
    return hilly ? shape->type == MF_SHAPE_HEIGHTS
                 : shape->type == MF_SHAPE_PLANE && x * x + y * y < 1e-12 &&
                       mf_abs(shape->position[2] - level) < 1e-9;
}
