// The mouse pulls a robot by a spring with a limit from the point where it was taken to where the
// mouse is:
//
//   f = m w (w d - 2 z u),  |f| <= LIMIT m g
//
// with the distance d, the velocity u of the point, and the robot's mass m. At levels with the
// inputs base.force and base.torque it is a force, and its torque about the base; other single
// bodies get its impulse; robots that only follow their command are moved. It ends with the
// release.
#include "view.h"

#include "math/scalar.h"

#include <math.h>
#include <string.h>

#define RATE 8.0      // [rad/s] w
#define DAMPING 0.7   // [1] z
#define LIMIT 3.0     // [1] of the weight
#define GRAVITY 9.81  // [m/s^2] that the limit is measured with
#define MOVE_RATE 6.0 // [1/s] with which robots that know no forces follow

typedef struct Fields {
    mf_Field *position, *orientation, *linear, *angular, *force, *torque;
} Fields;

static Fields fields_of(mf_Group *group) {
    return (Fields){.position = mf_group_find_field(group, "base.position"),
                    .orientation = mf_group_find_field(group, "base.orientation"),
                    .linear = mf_group_find_field(group, "base.linear_velocity"),
                    .angular = mf_group_find_field(group, "base.angular_velocity"),
                    .force = mf_group_find_field(group, "base.force"),
                    .torque = mf_group_find_field(group, "base.torque")};
}

static void load(double out[3], const mf_Field *field, uint32_t instance) {
    for (uint32_t c = 0; c < 3; c++)
        out[c] = field != NULL ? mf_field_get(field, instance, c) : 0.0;
}

static void store(mf_Field *field, uint32_t instance, const double values[3]) {
    for (uint32_t c = 0; c < 3 && field != NULL; c++)
        mf_field_set(field, instance, c, values[c]);
}

const char *mf_view_push(mf_Viewer *viewer, uint32_t robot, uint32_t link, const double at[3],
                         const double to[3]) {
    mf_Group *group;
    uint32_t instance;
    if (!mf_film_robot(viewer->film, robot, &group, &instance))
        return "there is no such robot";
    const mf_Model *model = mf_group_model(group);
    const Fields fields = fields_of(group);
    if (link >= model->link_count || fields.position == NULL || model->base == MF_BASE_FIXED)
        return "this one cannot be pushed: its base is fixed, or it is no single robot";
    mf_ViewPush *push = &viewer->push;
    if (push->on && (push->group != group || push->instance != instance))
        mf_view_release(viewer);
    *push = (mf_ViewPush){
        .on = true, .group = group, .instance = instance, .link = link, .mass = model->mass};
    mf_vec3_copy(push->at, at);
    mf_vec3_copy(push->to, to);
    return NULL;
}

void mf_view_release(mf_Viewer *viewer) {
    static const double none[3] = {0.0, 0.0, 0.0};
    if (!viewer->push.on)
        return;
    const Fields fields = fields_of(viewer->push.group);
    store(fields.force, viewer->push.instance, none);
    store(fields.torque, viewer->push.instance, none);
    viewer->push.on = false;
}

// [N] The spring's force; `arm` from the base's origin to the point.
static void spring(const mf_ViewPush *push, const Fields *fields, const double point[3],
                   const double arm[3], double force[3]) {
    double linear[3], angular[3], spin[3], turn[4], away[3];
    load(linear, fields->linear, push->instance);
    load(angular, fields->angular, push->instance);
    for (uint32_t c = 0; c < 4; c++)
        turn[c] = mf_field_get(fields->orientation, push->instance, c);
    mf_quat_rotate(spin, turn, angular); // body to world
    mf_vec3_cross(away, spin, arm);
    for (int c = 0; c < 3; c++)
        force[c] = push->mass * RATE *
                   (RATE * (push->to[c] - point[c]) - 2.0 * DAMPING * (linear[c] + away[c]));
    const double most = LIMIT * push->mass * GRAVITY, size = mf_vec3_length(force);
    for (int c = 0; c < 3 && size > most; c++)
        force[c] *= most / size;
}

static bool knows_forces(const mf_ViewPush *push, const Fields *fields) {
    const mf_Motion motion = mf_motion_of(push->group, push->instance);
    return motion != MF_MOTION_KINEMATIC && motion != MF_MOTION_EXTERNAL &&
           fields->linear != NULL && fields->angular != NULL && fields->orientation != NULL;
}

// A step towards where it is pulled, as far as it would come in that time.
static void move(const mf_Viewer *viewer, Fields *fields, const double point[3]) {
    const mf_ViewPush *push = &viewer->push;
    double position[3];
    load(position, fields->position, push->instance);
    const double part = MOVE_RATE * viewer->step < 1.0 ? MOVE_RATE * viewer->step : 1.0;
    for (int c = 0; c < 3; c++)
        position[c] += part * (push->to[c] - point[c]);
    store(fields->position, push->instance, position);
    mf_group_refresh(push->group, push->instance);
}

void mf_view_pull(mf_Viewer *viewer) {
    const mf_ViewPush *push = &viewer->push;
    double *links = viewer->film->position, *turns = viewer->film->rotation; // room for any robot
    if (!push->on || mf_group_fault(push->group, push->instance) != 0 ||
        mf_group_link_poses(push->group, push->instance, 1, links, turns, NULL) != MF_OK)
        return;
    Fields fields = fields_of(push->group);
    double point[3], arm[3], base[3], force[3], torque[3];
    mf_quat_rotate(point, turns + 4 * push->link, push->at);
    mf_vec3_add_scaled(point, links + 3 * push->link, 1.0, point);
    load(base, fields.position, push->instance);
    mf_vec3_sub(arm, point, base);
    if (!knows_forces(push, &fields)) {
        move(viewer, &fields, point);
        return;
    }
    spring(push, &fields, point, arm, force);
    if (fields.force != NULL && fields.torque != NULL) {
        mf_vec3_cross(torque, arm, force);
        store(fields.force, push->instance, force);
        store(fields.torque, push->instance, torque);
        return;
    }
    double linear[3];
    load(linear, fields.linear, push->instance);
    mf_vec3_add_scaled(linear, linear, viewer->step / push->mass, force);
    store(fields.linear, push->instance, linear);
    mf_group_refresh(push->group, push->instance);
}
