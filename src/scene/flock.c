// Reynolds' boids: separation from near neighbors, alignment with their mean velocity, cohesion
// with their center (Reynolds 1987, "Flocks, herds and schools"), and attraction to a goal. Each
// rule gives a vector of length at most 1; the desired velocity is their weighted sum plus the
// direction of flight, scaled to the flock's speed.
#include "scene/behavior.h"

#include "math/scalar.h"

// Adds `weight` times `vector`, clamped to length 1.
static void add_rule(double wish[3], const double vector[3], double weight) {
    double length = mf_vec3_length(vector);
    mf_vec3_add_scaled(wish, wish, length > 1.0 ? weight / length : weight, vector);
}

// The first `count` neighbors, relative to the agent.
typedef struct Neighbors {
    double center[3];   // [m] mean position
    double velocity[3]; // [m/s] mean
    double away[3];     // [1] weighted sum of directions away from near neighbors
} Neighbors;

static void look_around(const mf_BehaviorPlan *plan, uint32_t instance, uint32_t count,
                        Neighbors *out) {
    *out = (Neighbors){0};
    double near = plan->behavior.separation;
    for (uint32_t i = 0; i < count; i++) {
        double position[3], velocity[3];
        for (uint32_t c = 0; c < 3; c++) {
            position[c] = mf_field_get(plan->neighbor_position, instance, 3 * i + c);
            velocity[c] = mf_field_get(plan->neighbor_velocity, instance, 3 * i + c);
        }
        mf_vec3_add_scaled(out->center, out->center, 1.0 / count, position);
        mf_vec3_add_scaled(out->velocity, out->velocity, 1.0 / count, velocity);
        double distance = mf_vec3_length(position);
        if (distance < near && distance > 0.0)
            mf_vec3_add_scaled(out->away, out->away, -(near / distance - 1.0) / near, position);
    }
}

static uint32_t neighbors_of(const mf_BehaviorPlan *plan, uint32_t instance) {
    uint32_t count = (uint32_t)mf_field_get(plan->neighbor_count, instance, 0);
    return count < plan->neighbors ? count : plan->neighbors;
}

void mf_flock_avoid(const mf_BehaviorPlan *plan, uint32_t instance, double wish[3]) {
    if (plan->neighbor_count == NULL || !(plan->behavior.separation > 0.0))
        return;
    Neighbors around;
    look_around(plan, instance, neighbors_of(plan, instance), &around);
    mf_vec3_add_scaled(wish, wish, 2.0 * plan->behavior.speed, around.away);
}

void mf_flock_wish(const mf_BehaviorPlan *plan, uint32_t instance, double wish[3]) {
    const mf_Behavior *rules = &plan->behavior;
    uint32_t count = neighbors_of(plan, instance);
    double goal[3], velocity[3];
    for (uint32_t c = 0; c < 3; c++) {
        velocity[c] = mf_field_get(plan->velocity, instance, c) / rules->speed;
        goal[c] = (rules->goal[c] - mf_field_get(plan->position, instance, c)) / rules->speed;
    }
    mf_vec3_set(wish, 0.0, 0.0, 0.0);
    add_rule(wish, velocity, 1.0);
    add_rule(wish, goal, rules->goal_weight);
    if (count > 0) {
        Neighbors around;
        look_around(plan, instance, count, &around);
        mf_vec3_scale(around.velocity, around.velocity, 1.0 / rules->speed);
        mf_vec3_scale(around.center, around.center, 1.0 / rules->separation);
        add_rule(wish, around.away, rules->separation_weight);
        add_rule(wish, around.velocity, rules->alignment_weight);
        add_rule(wish, around.center, rules->cohesion_weight);
    }
    double length = mf_vec3_length(wish);
    if (length > 0.0)
        mf_vec3_scale(wish, wish, rules->speed / length);
}
