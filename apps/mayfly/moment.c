// Moments of robots (moment.h).
#include "moment.h"

#include <math.h>
#include <stdio.h>

#include "outcome.h"
#include "math/scalar.h"

double mf_moment_mass(mf_Group *group, uint32_t robot) {
    const mf_Field *vertices = mf_group_find_field(group, "vertex.mass");
    double sum = 0.0;
    if (vertices == NULL)
        return mf_group_model(group)->mass;
    for (uint32_t v = 0; v < vertices->components; v++)
        sum += mf_field_get(vertices, robot, v);
    return sum;
}

static double ground_load(mf_Group *group, uint32_t robot) {
    const mf_Field *load = mf_group_find_field(group, "contact.load");
    double weight =
        mf_moment_mass(group, robot) * mf_world_config_of(mf_group_world(group))->gravity;
    double sum = 0.0;
    if (load == NULL)
        load = mf_group_find_field(group, "point.load");
    const mf_Field *force = mf_group_find_field(group, "contact.force"); // of bars
    for (uint32_t c = 2; force != NULL && load == NULL && c < force->components; c += 3)
        sum += mf_field_get(force, robot, c);
    for (uint32_t i = 0; load != NULL && i < load->components; i++)
        sum += mf_field_get(load, robot, i);
    return weight > 0.0 ? sum / weight : 0.0;
}

mf_Moment mf_moment_of(mf_Group *group, uint32_t robot) {
    const mf_Field *rotation = mf_group_find_field(group, "base.orientation");
    double x = mf_field_get(rotation, robot, 1), y = mf_field_get(rotation, robot, 2);
    double center[3], linear[3], angular[3];
    mf_Moment moment = {.height =
                            mf_field_get(mf_group_find_field(group, "base.position"), robot, 2),
                        .tilt = acos(fmax(-1.0, fmin(1.0, 1.0 - 2.0 * (x * x + y * y)))),
                        .load = ground_load(group, robot)};
    mf_MotionEnergy energy = mf_motion_energy(group, robot);
    mf_motion_momentum(group, robot, center, linear, angular);
    moment.kinetic = energy.kinetic;
    moment.potential = energy.potential + energy.elastic;
    moment.center = center[2];
    moment.speed = mf_vec3_length(linear) / mf_moment_mass(group, robot);
    const mf_Field *velocity = mf_group_find_field(group, "base.linear_velocity");
    for (uint32_t c = 0; c < 3; c++)
        linear[c] = mf_field_get(velocity, robot, c);
    if (mf_motion_of(group, robot) >= MF_MOTION_OWN) // momentum unknown
        moment.speed = mf_vec3_length(linear);
    return moment;
}

mf_Moment mf_moment_mean(mf_Group *group, uint32_t *alive) {
    const uint32_t requested = mf_outcome_requested(group);
    mf_Moment sum = {0};
    *alive = 0;
    for (uint32_t i = 0; i < requested; i++) {
        if (mf_group_fault(group, i) != 0)
            continue;
        mf_Moment one = mf_moment_of(group, i);
        ++*alive;
        sum.height += one.height;
        sum.center += one.center;
        sum.speed += one.speed;
        sum.tilt += one.tilt;
        sum.kinetic += one.kinetic;
        sum.potential += one.potential;
        sum.load += one.load;
    }
    double part = *alive > 0 ? 1.0 / *alive : 0.0;
    return (mf_Moment){sum.height * part,  sum.center * part,    sum.speed * part, sum.tilt * part,
                       sum.kinetic * part, sum.potential * part, sum.load * part};
}

double mf_moment_value(mf_Group *group, const char *name) {
    char field[MF_SCENE_VALUE_NAME];
    double sum = 0.0;
    snprintf(field, sizeof field, "value.%s", name);
    const mf_Field *value = mf_group_find_field(group, field);
    for (uint32_t i = 0; value != NULL && i < mf_group_count(group); i++)
        sum += mf_field_get(value, i, 0);
    return sum;
}

bool mf_moment_is_kept(const mf_Group *group) {
    return mf_group_model(group)->base == MF_BASE_FIXED && !mf_motion_in(group, MF_MOTION_POINTS);
}

void mf_moment_print_head(void) {
    printf("%8s %9s %9s %9s %7s %10s %10s %7s\n", "time s", "base m", "center m", "speed m/s",
           "tilt", "kinetic J", "potent. J", "load");
}

void mf_moment_print(mf_Group *group, double time) {
    mf_Moment moment = mf_moment_of(group, 0);
    if (mf_group_fault(group, 0) != 0) {
        char text[MF_FAULT_TEXT];
        printf("%8.3f  fault %s: frozen\n", time, mf_fault_text(mf_group_fault(group, 0), text));
        return;
    }
    if (mf_moment_is_kept(group))
        printf("%8.3f %9s %9.4f %9.4f %7s", time, "-", moment.center, moment.speed, "-");
    else if (!mf_robot_has_rotation(group))
        printf("%8.3f %9.4f %9.4f %9.4f %7s", time, moment.height, moment.center, moment.speed,
               "-");
    else
        printf("%8.3f %9.4f %9.4f %9.4f %6.1f°", time, moment.height, moment.center, moment.speed,
               moment.tilt * 57.295779513082321);
    printf(" %10.4g %10.4g %7.2f\n", moment.kinetic, moment.potential, moment.load);
}
