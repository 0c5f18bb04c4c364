// Reynolds' boids: an agent keeps away from near neighbours, takes on their mean velocity and moves
// towards their middle (Reynolds 1987, "Flocks, herds and schools"), and all are drawn to a goal.
// Each rule gives a direction of length at most 1; the wish is their weighted sum on top of the
// direction of flight, at the flock's speed.
#include "scene/behaviour/behaviour.h"

#include "math/scalar.h"

// Adds `weight` times `vector`, whose length is cut to 1.
static void add_rule(double wish[3], const double vector[3], double weight) {
    double length = mf_vec3_length(vector);
    mf_vec3_add_scaled(wish, wish, length > 1.0 ? weight / length : weight, vector);
}

// The first `count` neighbours, relative to the agent.
typedef struct Neighbours {
    double middle[3];   // [m] mean of their places
    double velocity[3]; // [m/s] mean
    double away[3];     // [1] sum of directions away from near ones, more the nearer
} Neighbours;

static void look_around(const mf_BehaviourPlan *plan, uint32_t instance, uint32_t count,
                        Neighbours *out) {
    *out = (Neighbours){0};
    double near = plan->behaviour.separation;
    for (uint32_t i = 0; i < count; i++) {
        double place[3], velocity[3];
        for (uint32_t c = 0; c < 3; c++) {
            place[c] = mf_field_get(plan->neighbour_position, instance, 3 * i + c);
            velocity[c] = mf_field_get(plan->neighbour_velocity, instance, 3 * i + c);
        }
        mf_vec3_add_scaled(out->middle, out->middle, 1.0 / count, place);
        mf_vec3_add_scaled(out->velocity, out->velocity, 1.0 / count, velocity);
        double distance = mf_vec3_length(place);
        if (distance < near && distance > 0.0)
            mf_vec3_add_scaled(out->away, out->away, -(near / distance - 1.0) / near, place);
    }
}

static uint32_t neighbours_of(const mf_BehaviourPlan *plan, uint32_t instance) {
    uint32_t count = (uint32_t)mf_field_get(plan->neighbour_count, instance, 0);
    return count < plan->neighbours ? count : plan->neighbours;
}

void mf_flock_avoid(const mf_BehaviourPlan *plan, uint32_t instance, double wish[3]) {
    if (plan->neighbour_count == NULL || !(plan->behaviour.separation > 0.0))
        return;
    Neighbours around;
    look_around(plan, instance, neighbours_of(plan, instance), &around);
    mf_vec3_add_scaled(wish, wish, 2.0 * plan->behaviour.speed, around.away);
}

void mf_flock_wish(const mf_BehaviourPlan *plan, uint32_t instance, double wish[3]) {
    const mf_Behaviour *rules = &plan->behaviour;
    uint32_t count = neighbours_of(plan, instance);
    double goal[3], velocity[3];
    for (uint32_t c = 0; c < 3; c++) {
        velocity[c] = mf_field_get(plan->velocity, instance, c) / rules->speed;
        goal[c] = (rules->goal[c] - mf_field_get(plan->position, instance, c)) / rules->speed;
    }
    mf_vec3_set(wish, 0.0, 0.0, 0.0);
    add_rule(wish, velocity, 1.0);
    add_rule(wish, goal, rules->goal_weight);
    if (count > 0) {
        Neighbours around;
        look_around(plan, instance, count, &around);
        mf_vec3_scale(around.velocity, around.velocity, 1.0 / rules->speed);
        mf_vec3_scale(around.middle, around.middle, 1.0 / rules->separation);
        add_rule(wish, around.away, rules->separation_weight);
        add_rule(wish, around.velocity, rules->alignment_weight);
        add_rule(wish, around.middle, rules->cohesion_weight);
    }
    double length = mf_vec3_length(wish);
    if (length > 0.0)
        mf_vec3_scale(wish, wish, rules->speed / length);
}
