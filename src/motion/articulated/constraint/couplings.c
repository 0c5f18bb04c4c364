// Couplings of a plan: constraints between links outside of the tree. Equality constraints, tendons
// with forces, and the pairs of shapes that may touch.
#include "motion/articulated/build.h"
#include "math/scalar.h"
#include "model/points.h"

#include <math.h>
#include <string.h>

// ---- terms --------------------------------------------------------------------------------------

void mf_art_actuator_add(const mf_Actuator *actuator, double *damping, double *armature) {
    const double square = actuator->gear[0] * actuator->gear[0];
    *damping += square * actuator->damping;
    *armature += square * actuator->armature;
}

mf_Tendon mf_art_tendon(const mf_Model *model, uint32_t tendon) {
    mf_Tendon acting = model->tendons[tendon];
    for (uint32_t i = 0; i < model->actuator_count; i++)
        if (model->actuators[i].drive == MF_DRIVE_TENDON && model->actuators[i].tendon == tendon)
            mf_art_actuator_add(&model->actuators[i], &acting.damping, &acting.armature);
    return acting;
}

bool mf_art_tendon_fixed(const mf_Model *model, uint32_t tendon) {
    const mf_Tendon own = mf_art_tendon(model, tendon);
    return mf_is_finite(own.lower) || mf_is_finite(own.upper) || own.stiffness > 0.0 ||
           own.damping > 0.0 || own.friction > 0.0 || own.armature > 0.0;
}

static uint32_t follower_count(const mf_Model *model) {
    uint32_t count = 0;
    for (uint32_t j = 0; j < model->joint_count; j++)
        count += model->joints[j].mimic != MF_NONE;
    return count;
}

uint32_t mf_art_coupling_terms(const mf_Model *model) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->tendon_count; i++)
        count += model->tendons[i].term_count;
    for (uint32_t i = 0; i < model->equality_count; i++) {
        const mf_Equality *equality = &model->equalities[i];
        for (int side = 0; side < 2; side++) {
            if (equality->type == MF_EQUALITY_JOINT)
                count += 1;
            else if (equality->type == MF_EQUALITY_TENDON && equality->objects[side] != MF_NONE)
                count += model->tendons[equality->objects[side]].term_count;
        }
    }
    return count + 2 * follower_count(model);
}

uint32_t mf_art_pulled(const mf_Model *model, const mf_Actuator *actuator, mf_TendonTerm *own,
                       const mf_TendonTerm **terms) {
    if (actuator->drive == MF_DRIVE_TENDON) {
        *terms = model->tendon_terms + model->tendons[actuator->tendon].first_term;
        return model->tendons[actuator->tendon].term_count;
    }
    *own = (mf_TendonTerm){.joint = actuator->joint, .coefficient = 1.0};
    *terms = own;
    return 1;
}

mf_Status mf_art_add_terms(mf_ArtMotion *motion, const mf_Model *model, const char *name,
                           const mf_TendonTerm *terms, uint32_t term_count, double factor,
                           uint32_t *first, uint32_t *count, mf_Error *error) {
    *first = motion->plan->term_count;
    *count = term_count;
    for (uint32_t i = 0; i < term_count; i++) {
        MF_CHECK(mf_joint_has_axis(&model->joints[terms[i].joint]), error, MF_UNSUPPORTED,
                 "articulated: %s: couples a joint that is neither hinge nor slide", name);
        motion->terms[motion->plan->term_count++] = (mf_ArtTerm){
            .link = motion->joint_links[terms[i].joint], .weight = factor * terms[i].coefficient};
    }
    return MF_OK;
}

static mf_Status add_tendon_terms(mf_ArtMotion *motion, const mf_Model *model, uint32_t tendon,
                                  uint32_t *first, uint32_t *count, mf_Error *error) {
    const mf_Tendon *from = &model->tendons[tendon];
    return mf_art_add_terms(motion, model, from->name, model->tendon_terms + from->first_term,
                            from->term_count, 1.0, first, count, error);
}

// ---- equality constraints -----------------------------------------------------------------------

static void place_frame(mf_ArtMotion *motion, const mf_Frame *frame, mf_ArtLoop *loop, int side) {
    loop->links[side] = mf_art_pose(motion, frame->link, frame->position, frame->rotation,
                                    loop->arms[side], loop->rotations[side]);
    for (int32_t l = loop->links[side]; l >= 0; l = motion->links[l].parent) {
        motion->looped[l] = true;
        motion->links[l].posed = true;
    }
}

// A side on a mocap body moves with that.
static void place_on_mocap(const mf_ArtMotion *motion, const mf_Model *model, uint32_t body,
                           const mf_Frame *frame, mf_ArtLoop *loop, int side) {
    const uint32_t number = mf_art_mocap_of(motion, model, body);
    double back[4];
    loop->mocap[side] = number;
    if (number == MF_NONE)
        return;
    const mf_ArtMocap *mocap = &motion->mocaps[number];
    loop->links[side] = MF_ART_WORLD;
    mf_quat_conjugate(back, mocap->rotation);
    mf_vec3_sub(loop->arms[side], frame->position, mocap->position);
    mf_quat_rotate(loop->arms[side], back, loop->arms[side]);
    mf_quat_multiply(loop->rotations[side], back, frame->rotation);
}

static double tendon_start(const mf_Model *model, const mf_Tendon *tendon) {
    double length = 0.0;
    for (uint32_t i = 0; i < tendon->term_count; i++) {
        const mf_TendonTerm *term = &model->tendon_terms[tendon->first_term + i];
        const mf_Joint *joint = &model->joints[term->joint];
        double position = model->start_position != NULL
                              ? model->start_position[joint->position_address]
                              : joint->reference;
        length += term->coefficient * position;
    }
    return length;
}

static mf_Status count_rows(mf_ArtMotion *motion, const mf_Model *model, uint32_t rows,
                            mf_Error *error) {
    motion->plan->loop_rows += rows;
    if (!motion->plan->law && motion->plan->loop_rows > MF_ARTICULATED_MAX_LOOPS)
        return mf_fail(error, MF_LIMIT,
                       "articulated: model %s has more than %d equations of constraints, at most "
                       "with contact_law: mujoco",
                       model->name, MF_ARTICULATED_MAX_LOOPS);
    return MF_OK;
}

// A joint that follows another (URDF's mimic) follows that one's leader in the end (the model has
// no cycles): position = multiplier times the leader's + offset.
static mf_Status add_follower(mf_ArtMotion *motion, const mf_Model *model, uint32_t joint,
                              mf_Error *error) {
    uint32_t leader = joint;
    double multiplier = 1.0, offset = 0.0;
    while (model->joints[leader].mimic != MF_NONE) {
        offset += multiplier * model->joints[leader].offset;
        multiplier *= model->joints[leader].multiplier;
        leader = model->joints[leader].mimic;
    }
    if (motion->joint_links[joint] == MF_NONE || motion->joint_links[leader] == MF_NONE)
        return MF_OK; // a fixed joint is followed by none and follows none
    mf_ArtLoop *loop = &motion->loops[motion->plan->loop_count++];
    *loop = (mf_ArtLoop){.type = MF_EQUALITY_JOINT,
                         .rows = 1,
                         .equality = MF_NONE,
                         .mocap = {MF_NONE, MF_NONE},
                         .links = {MF_ART_WORLD, MF_ART_WORLD},
                         .terms = {1, 1},
                         .coefficients = {offset, multiplier}};
    for (int side = 0; side < 2; side++) {
        loop->first_term[side] = motion->plan->term_count;
        motion->terms[motion->plan->term_count++] =
            (mf_ArtTerm){.link = motion->joint_links[side == 0 ? joint : leader], .weight = 1.0};
    }
    return count_rows(motion, model, 1, error);
}

static bool is_still(const mf_ArtMotion *motion, int32_t link) {
    return link == MF_ART_WORLD || (link < 0 && motion->plan->fixed);
}

// Between parts that cannot move against each other there is nothing to hold, as in MuJoCo.
static bool is_idle(const mf_ArtMotion *motion, const mf_ArtLoop *loop) {
    const int32_t *links = loop->links;
    return loop->rows > 1 &&
           (links[0] == links[1] || (is_still(motion, links[0]) && is_still(motion, links[1])));
}

static mf_Status add_loop(mf_ArtMotion *motion, const mf_Model *model, const mf_Equality *from,
                          mf_Error *error) {
    mf_ArtLoop *loop = &motion->loops[motion->plan->loop_count++];
    *loop = (mf_ArtLoop){.type = from->type,
                         .rows = 1,
                         .equality = (uint32_t)(from - model->equalities),
                         .links = {MF_ART_WORLD, MF_ART_WORLD},
                         .mocap = {MF_NONE, MF_NONE}};
    memcpy(loop->coefficients, from->coefficients, sizeof loop->coefficients);
    if (from->type == MF_EQUALITY_CONNECT || from->type == MF_EQUALITY_WELD) {
        loop->rows = from->type == MF_EQUALITY_WELD ? 6 : 3;
        for (int side = 0; side < 2; side++) {
            const uint32_t site = from->sites[side];
            place_frame(motion, &from->frames[side], loop, side);
            place_on_mocap(motion, model,
                           site != MF_NONE ? model->sites[site].body : from->objects[side],
                           &from->frames[side], loop, side);
        }
    }
    if (is_idle(motion, loop)) {
        motion->plan->loop_count--;
        return MF_OK;
    }
    for (int side = 0; side < 2 && loop->rows == 1; side++) {
        const uint32_t object = from->objects[side];
        uint32_t *first = &loop->first_term[side], *count = &loop->terms[side];
        const mf_TendonTerm own = {.joint = object, .coefficient = 1.0};
        *first = motion->plan->term_count;
        if (object == MF_NONE)
            continue;
        if (from->type == MF_EQUALITY_TENDON) {
            loop->references[side] = tendon_start(model, &model->tendons[object]);
            MF_TRY(add_tendon_terms(motion, model, object, first, count, error));
            continue;
        }
        loop->references[side] = model->joints[object].reference;
        MF_TRY(mf_art_add_terms(motion, model, from->name, &own, 1, 1.0, first, count, error));
    }
    return count_rows(motion, model, loop->rows, error);
}

// ---- tendons ------------------------------------------------------------------------------------

static mf_Status add_tendon(mf_ArtMotion *motion, const mf_Model *model, uint32_t tendon,
                            mf_Error *error) {
    const mf_Tendon acting = mf_art_tendon(model, tendon), *from = &acting;
    const uint32_t disabled = model->physics.disabled;
    const uint32_t loose = MF_DISABLE_LIMIT | MF_DISABLE_CONSTRAINT;
    const bool limits = motion->config.limits && !(disabled & loose);
    const uint32_t dry = MF_DISABLE_FRICTION_LOSS | MF_DISABLE_CONSTRAINT;
    mf_ArtTendon *to = &motion->tendons[motion->plan->tendon_count++];
    *to = (mf_ArtTendon){.tendon = tendon,
                         .path = from->wrap_count > 0 ? tendon : MF_NONE,
                         .lower = limits ? from->lower : -INFINITY,
                         .upper = limits ? from->upper : INFINITY,
                         .spring_lower = from->spring_lower,
                         .spring_upper = from->spring_upper,
                         .stiffness = disabled & MF_DISABLE_SPRING ? 0.0 : from->stiffness,
                         .damping = disabled & MF_DISABLE_DAMPER ? 0.0 : from->damping,
                         .friction = disabled & dry ? 0.0 : from->friction,
                         .armature = from->armature};
    to->elastic = to->stiffness > 0.0 || to->damping > 0.0 || to->armature > 0.0;
    if (motion->plan->law && to->path != MF_NONE)
        mf_art_path_thrust(motion, tendon);
    return add_tendon_terms(motion, model, tendon, &to->first_term, &to->term_count, error);
}

static mf_Status add_span(mf_ArtMotion *motion, const mf_Model *model, uint32_t tendon,
                          mf_Error *error) {
    mf_ArtSpan *span = &motion->spans[tendon];
    *span = (mf_ArtSpan){.path = model->tendons[tendon].wrap_count > 0 ? tendon : MF_NONE};
    for (uint32_t a = 0; a < motion->plan->actuator_count; a++)
        span->looked |= motion->actuators[a].tendon == tendon;
    if (!mf_art_tendon_fixed(model, tendon))
        return add_tendon_terms(motion, model, tendon, &span->first_term, &span->term_count, error);
    const mf_Status status = add_tendon(motion, model, tendon, error);
    const mf_ArtTendon *own = &motion->tendons[motion->plan->tendon_count - 1];
    span->first_term = own->first_term;
    span->term_count = own->term_count;
    span->looked = true;
    return status;
}

mf_Status mf_art_couplings_build(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                                 mf_Error *error) {
    uint32_t fixed_count = 0;
    for (uint32_t i = 0; i < model->tendon_count; i++)
        fixed_count += mf_art_tendon_fixed(model, i);
    MF_TRY(
        MF_ALLOCATE(context, "articulated", error, MF_ARRAY(motion->spans, model->tendon_count),
                    MF_ARRAY(motion->loops, (size_t)model->equality_count + follower_count(model)),
                    MF_ARRAY(motion->tendons, fixed_count),
                    MF_ARRAY(motion->looped, motion->plan->link_count)));
    const uint32_t off = MF_DISABLE_CONSTRAINT | MF_DISABLE_EQUALITY;
    for (uint32_t i = 0; i < model->equality_count; i++)
        if (model->equalities[i].active && !(model->physics.disabled & off))
            MF_TRY(add_loop(motion, model, &model->equalities[i], error));
    for (uint32_t j = 0; j < model->joint_count; j++)
        if (model->joints[j].mimic != MF_NONE)
            MF_TRY(add_follower(motion, model, j, error));
    for (uint32_t i = 0; i < model->tendon_count; i++)
        MF_TRY(add_span(motion, model, i, error));
    motion->plan->span_count = model->tendon_count;
    motion->plan->coupled = motion->plan->loop_count > 0 || motion->plan->tendon_count > 0;
    return MF_OK;
}
