// A rolling track: a closed chain of modules in a vertical plane, each with a hinge across it, that
// rolls by its shape. Each module bends by
//     bend (1 - stretch cos 2 (a - lean)),
// where a is the direction of its middle above the horizontal, from its accelerometer only. So the
// track is long in the direction `lean`, whatever module is there: it leans forward, falls forward,
// and bends anew. The directions of a closed track are spread over the circle, so the bends add up
// to those of a circle. All modules have their x axes along the track and their z axes outwards; a
// positive angle of the hinge lowers the front.
#include "scene/modules/policies.h"

#include "math/scalar.h"

enum { UP_X, UP_Z, MEMORY }; // [m/s^2] smoothed reading
_Static_assert((int)MEMORY == (int)MF_TRACK_MEMORY, "others begin behind it");

static const double smoothing = 0.1; // [s] time constant: impacts are short

static void feel(mf_Policy *policy, const mf_PolicyPlan *plan, uint32_t memory) {
    const double weight = mf_policy_period(policy) / (smoothing + mf_policy_period(policy));
    for (uint32_t c = 0; c < 2; c++) {
        const double reading = mf_policy_percept(policy, MF_POLICY_SENSOR, plan->sensor + 2 * c);
        const double before = mf_policy_memory(policy, memory + UP_X + c);
        mf_policy_set_memory(policy, memory + UP_X + c, before + weight * (reading - before));
    }
}

double mf_policy_track_bend(mf_Policy *policy, const mf_PolicyPlan *plan, uint32_t memory,
                            double bent) {
    const mf_PolicyBehavior *settings = &plan->settings;
    double sine, cosine;
    feel(policy, plan, memory);
    const double own =
        mf_atan2(mf_policy_memory(policy, memory + UP_X), mf_policy_memory(policy, memory + UP_Z));
    mf_sin_cos(2.0 * (own - 0.5 * bent - settings->lean), &sine, &cosine);
    return settings->offset * (1.0 - settings->stretch * cosine);
}

static bool think(mf_Policy *policy, void *user) {
    const mf_PolicyPlan *plan = user;
    const double bent = mf_policy_percept(policy, MF_POLICY_TARGET, plan->joints[0].joint);
    return mf_policy_pose(policy, plan, mf_policy_track_bend(policy, plan, 0, bent));
}

const mf_PolicyKind mf_policy_track = {.name = "track",
                                       .think = think,
                                       .memory = MEMORY,
                                       .joints = true,
                                       .sensor = MF_SENSOR_ACCELEROMETER,
                                       .other = MF_SENSOR_ACCELEROMETER};
