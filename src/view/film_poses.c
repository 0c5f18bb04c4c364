// Poses of a film as whole numbers: each link as its joint moves it, that is relative to its parent
// and to how the joint stands at 0, so that of most joints one number in six changes. Positions in
// steps of 0.06 mm, rotations as vectors (axis times angle) in steps of 0.24 mrad.
#include "view/film.h"

#include "math/scalar.h"

#include <math.h>

#define METERS (1.0 / 16384.0)      // [m] a step, as web/src/poses.ts has it
#define RADIANS (1.0 / 4096.0)      // [rad]
#define SWARM 100u                  // [1] vehicles from which their poses have coarser steps
#define PART 256.0                  // [1] of a radius that these are, at most
#define SWARM_RADIANS (1.0 / 256.0) // [rad]
#define ABSENT (1 << 30)            // [1] not finite, or farther than 65 km

typedef struct Pose {
    double position[3], rotation[4]; // [m], [1]
} Pose;

static int32_t steps(double value, double step) {
    const double count = mf_floor(value / step + 0.5);
    return fabs(count) < ABSENT ? (int32_t)count : ABSENT;
}

static Pose read_pose(const float *pose) {
    Pose out;
    for (int c = 0; c < 3; c++)
        out.position[c] = (double)pose[c];
    for (int c = 0; c < 4; c++)
        out.rotation[c] = (double)pose[3 + c];
    return out;
}

// Relative to the parent and, in rotation, to the joint at 0.
static void make_relative(Pose *pose, const Pose *parent, const double joint[4]) {
    double offset[3], back[4], rotation[4];
    mf_vec3_sub(offset, pose->position, parent->position);
    mf_quat_rotate_inverse(pose->position, parent->rotation, offset);
    mf_quat_multiply(rotation, parent->rotation, joint);
    mf_quat_conjugate(back, rotation);
    mf_quat_multiply(rotation, back, pose->rotation);
    for (int c = 0; c < 4; c++)
        pose->rotation[c] = rotation[c];
}

// Of all vectors of the same rotation the one that is nearest to that of the sample before, so that
// a wheel goes on turning.
static void unwind(double vector[3], const double before[3]) {
    const double size = mf_vec3_length(vector), length = mf_vec3_length(before);
    double direction[3];
    if (size < 1e-9 && length < 1e-9)
        return;
    for (int c = 0; c < 3; c++)
        direction[c] = size < 1e-9 ? before[c] / length : vector[c] / size;
    const double cycles = mf_floor((mf_vec3_dot(before, direction) - size) / (2.0 * M_PI) + 0.5);
    for (int c = 0; c < 3; c++)
        vector[c] = direction[c] * (size + 2.0 * M_PI * cycles);
}

typedef struct Steps {
    double meters, radians;
} Steps;

static bool is_swarm(const mf_FilmCast *cast) {
    return cast->visual != NULL && cast->visual->own_parts && mf_group_count(cast->group) >= SWARM;
}

// Of a cast: powers of two. Between two samples the page interpolates, so they need not be finer
// than what an acceleration of 1 m/s^2 makes of that, by four.
static Steps steps_of(const mf_Film *film, const mf_FilmCast *cast) {
    if (!is_swarm(cast))
        return (Steps){METERS, RADIANS};
    int exponent;
    const double period = film->period * film->stride, between = period * period / 32.0;
    const double own = mf_group_model(cast->group)->shapes[0].size[0] / PART;
    const double part = frexp(own > between ? own : between, &exponent);
    const double meters = ldexp(part > 0.0 ? 0.5 : 0.0, exponent);
    return (Steps){meters > METERS ? meters : METERS, SWARM_RADIANS};
}

// The link's columns: position, rotation.
static void put_link(const mf_Film *film, size_t link, size_t parent, const double joint[4],
                     Steps size, int32_t *columns) {
    const size_t each = film->poses_each;
    double before[3] = {0.0, 0.0, 0.0};
    for (uint32_t s = 0; s < film->filled; s++) {
        Pose pose = read_pose(film->poses + (s * each + link) * MF_FILM_POSE);
        if (parent != link) {
            const Pose base = read_pose(film->poses + (s * each + parent) * MF_FILM_POSE);
            make_relative(&pose, &base, joint);
        }
        double vector[3];
        mf_quat_to_rotation_vector(vector, pose.rotation);
        unwind(vector, before);
        for (size_t c = 0; c < 3; c++) {
            columns[c * film->filled + s] = steps(pose.position[c], size.meters);
            columns[(3 + c) * film->filled + s] = steps(vector[c], size.radians);
            before[c] = isfinite(vector[c]) ? vector[c] : 0.0;
        }
    }
}

// The columns of a vertex of a surface: position, bits of torn triangles.
static void put_vertex(const mf_Film *film, size_t link, int32_t *columns) {
    for (uint32_t s = 0; s < film->filled; s++) {
        const float *pose = film->poses + (s * film->poses_each + link) * MF_FILM_POSE;
        for (size_t c = 0; c < 3; c++)
            columns[c * film->filled + s] = steps((double)pose[c], METERS);
        columns[3 * film->filled + s] = (int32_t)pose[4];
    }
}

// The model whose joints move the links of a cast; NULL: nothing does.
static const mf_Model *jointed(const mf_FilmCast *cast) {
    if (cast->visual == NULL || cast->visual->kind != MF_VISUAL_PARTS)
        return NULL;
    const mf_Model *model = mf_group_model(cast->group);
    return model->link_count != cast->links ? NULL : model;
}

static const mf_Joint *joint_of(const mf_Model *model, uint32_t link) {
    const bool moved = model != NULL && model->links[link].parent != MF_NONE &&
                       model->links[link].joint != MF_NONE;
    return moved ? &model->joints[model->links[link].joint] : NULL;
}

void mf_film_put_tracks(mf_Text *text, const mf_Film *film, const mf_FilmCast *cast) {
    const mf_Model *model = jointed(cast);
    if (is_swarm(cast) && !film->live) {
        const Steps size = steps_of(film, cast);
        const double values[2] = {size.meters, size.radians};
        mf_film_put_numbers(text, "steps", values, 2);
    }
    if (model == NULL)
        return;
    mf_text_put(text, ",\"tracks\":[");
    for (uint32_t l = 0; l < cast->links; l++) {
        const mf_Joint *joint = joint_of(model, l);
        mf_text_format(text, "%s{\"parent\":%d", l > 0 ? "," : "",
                       joint != NULL ? (int)model->links[l].parent : -1);
        if (joint != NULL) {
            mf_film_put_numbers(text, "turn", joint->rotation, 4);
            mf_film_put_numbers(text, "axis", joint->axis, 3);
            mf_text_put(text, ",\"joint\":");
            mf_film_put_string(text, joint->name);
            if (joint->type == MF_JOINT_HINGE)
                mf_text_put(text, ",\"hinge\":true");
        }
        mf_text_put(text, "}");
    }
    mf_text_put(text, "]");
}

void mf_film_put_poses(mf_Text *text, const mf_Film *film) {
    size_t columns = 0, link = 0, column = 0;
    for (uint32_t i = 0; i < film->cast_count; i++)
        columns +=
            (size_t)film->casts[i].robots * film->casts[i].links * (film->casts[i].surface ? 4 : 6);
    int32_t *values = mf_allocate(text->context, columns * film->filled + 1, sizeof *values);
    for (uint32_t i = 0; values != NULL && i < film->cast_count; i++) {
        const mf_FilmCast *cast = &film->casts[i];
        const mf_Model *model = jointed(cast);
        for (size_t n = 0; n < (size_t)cast->robots * cast->links; n++, link++) {
            const uint32_t own = (uint32_t)(n % cast->links);
            const mf_Joint *joint = joint_of(model, own);
            int32_t *out = values + column * film->filled;
            if (cast->surface)
                put_vertex(film, link, out);
            else if (joint != NULL)
                put_link(film, link, link - own + model->links[own].parent, joint->rotation,
                         steps_of(film, cast), out);
            else
                put_link(film, link, link, NULL, steps_of(film, cast), out);
            column += cast->surface ? 4 : 6;
        }
    }
    // Poses that no joint is known of are all relative to the world, whatever the description says.
    const bool known = film->cast_count == 0 || film->casts[0].group != NULL;
    mf_film_put_columns(text, known ? "poses" : "places", values, columns, film->filled);
    mf_release(text->context, values);
}
