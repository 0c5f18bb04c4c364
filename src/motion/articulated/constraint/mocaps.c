// Mocap bodies (MuJoCo documentation, "XML reference", body/mocap): bodies of the world that a
// program moves. Their poses are inputs; shapes on them and equality constraints to them follow.
#include "motion/articulated/build.h"
#include "math/scalar.h"

#include <string.h>

static bool is_fixed(const mf_Model *model, uint32_t body) {
    const uint32_t link = model->bodies[body].link;
    return link == MF_NONE || (link == 0 && model->base == MF_BASE_FIXED);
}

uint32_t mf_art_mocap_of(const mf_ArtMotion *motion, const mf_Model *model, uint32_t body) {
    for (; body < model->body_count && is_fixed(model, body); body = model->bodies[body].parent)
        for (uint32_t i = 0; i < motion->plan->mocap_count; i++)
            if (motion->mocaps[i].body == body)
                return i;
    return MF_NONE;
}

mf_Status mf_art_mocaps_build(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                              mf_Error *error) {
    uint32_t count = 0;
    for (uint32_t b = 0; b < model->body_count; b++)
        count += model->bodies[b].mocap && is_fixed(model, b);
    MF_TRY(MF_ALLOCATE(context, "articulated", error, MF_ARRAY(motion->mocaps, count)));
    for (uint32_t b = 0; b < model->body_count; b++) {
        const mf_Body *body = &model->bodies[b];
        if (!body->mocap || !is_fixed(model, b))
            continue;
        mf_ArtMocap *mocap = &motion->mocaps[motion->plan->mocap_count++];
        mocap->body = b;
        mf_vec3_copy(mocap->position, body->position);
        memcpy(mocap->rotation, body->rotation, sizeof mocap->rotation);
    }
    return MF_OK;
}

// From the world's or base's frame into the mocap body's.
static void carry(const mf_ArtMocap *mocap, double *values) {
    double back[4], rotation[9], own[9];
    mf_quat_conjugate(back, mocap->rotation);
    mf_quat_to_matrix(rotation, back);
    memcpy(own, values + MF_COLLIDE_ROTATION, sizeof own);
    mf_mat3_multiply(values + MF_COLLIDE_ROTATION, rotation, own);
    mf_vec3_sub(values + MF_COLLIDE_POSITION, values + MF_COLLIDE_POSITION, mocap->position);
    mf_mat3_apply(values + MF_COLLIDE_POSITION, rotation, values + MF_COLLIDE_POSITION);
}

void mf_art_mocaps_carry(mf_ArtMotion *motion, const mf_Model *model) {
    mf_CollidePlan *collide = motion->collide;
    if (collide == NULL || motion->plan->mocap_count == 0)
        return;
    mf_CollideShape *shapes = mf_flat_at(collide, collide->shapes_at);
    double *wide = mf_flat_at(collide, collide->values_f64_at);
    float *narrow = mf_flat_at(collide, collide->values_f32_at);
    for (uint32_t i = 0; i < collide->shape_count; i++) {
        const uint32_t body = model->shapes[shapes[i].shape].body;
        const uint32_t number = mf_art_mocap_of(motion, model, body);
        const size_t at = (size_t)i * MF_COLLIDE_SHAPE_VALUES;
        if (number == MF_NONE)
            continue;
        carry(&motion->mocaps[number], wide + at);
        for (size_t k = 0; k < MF_COLLIDE_SHAPE_VALUES; k++)
            narrow[at + k] = (float)wide[at + k];
        shapes[i].frame = motion->plan->link_count + 1 + number;
    }
}
