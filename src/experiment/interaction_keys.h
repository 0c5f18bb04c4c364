// The keys of the interaction of a swarm, rows of the table of swarms (swarm_keys.c), which defines
// SWARM(member) and the lists of words used here.
#ifndef MAYFLY_SRC_EXPERIMENT_INTERACTION_KEYS_H
#define MAYFLY_SRC_EXPERIMENT_INTERACTION_KEYS_H

#include "experiment/keys.h"

#include <mayfly/swarm.h>

static const char *const mf_wind_profiles[] = {"uniform", "logarithmic", NULL};

_Static_assert(sizeof(mf_WindProfile) == sizeof(int), "choices are stored as int");

#define MF_MEETING(member) offsetof(mf_Swarm, interaction.member)

// clang-format off
#define MF_INTERACTION_KEYS \
    MF_KEY("interaction", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, MF_KEY_NOWHERE, \
           "what agents have to do with each other"), \
    MF_KEY("interaction.enabled", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, \
           offsetof(mf_Swarm, interact), "false: every agent is alone"), \
    MF_KEY("interaction.beside", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, MF_MEETING(beside), \
           "detection and collisions run on a thread of their own, beside the main loop"), \
    MF_KEY("interaction.latency", MF_KEY_COUNT, 0, "1", "0", 0, 1e6, NULL, MF_MEETING(latency), \
           "steps from looking to taking effect; 0: at once"), \
    MF_KEY("interaction.margin", MF_KEY_REAL, 0, "m", "0", 0, 1e5, NULL, MF_MEETING(margin), \
           "of the neighbour lists; 0: a fifth of the reach"), \
    MF_KEY("interaction.candidates", MF_KEY_COUNT, 0, "1", "96", 1, 1 << 20, NULL, \
           MF_MEETING(candidates), "candidates per agent that the lists have room for"), \
    MF_KEY("interaction.events", MF_KEY_COUNT, 0, "1", "4096", 1, 1 << 24, NULL, \
           MF_MEETING(event_capacity), "events kept until they are read"), \
    MF_KEY("interaction.neighbours", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, MF_KEY_NOWHERE, \
           "what each agent detects of others"), \
    MF_KEY("interaction.neighbours.detect", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, \
           MF_MEETING(detect), "tell each agent of its neighbours"), \
    MF_KEY("interaction.neighbours.radius", MF_KEY_REAL, MF_KEY_ABOVE, "m", "5", 0, 1e5, NULL, \
           MF_MEETING(radius), "how far an agent sees"), \
    MF_KEY("interaction.neighbours.nearest", MF_KEY_COUNT, 0, "1", "8", 0, MF_NEAREST_LIMIT, NULL, \
           MF_MEETING(nearest), "neighbours told one by one"), \
    MF_KEY("interaction.neighbours.relative", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, \
           MF_MEETING(relative), "tell relative places and velocities too"), \
    MF_KEY("interaction.neighbours.sight", MF_KEY_REAL, MF_KEY_ABOVE, "rad", "3.141592653589793", \
           0, 3.1415926535897932, NULL, MF_MEETING(sight), \
           "half-angle of view about the forward axis; pi: all round"), \
    MF_KEY("interaction.neighbours.interval", MF_KEY_RATE, 0, "s", "0", 0, 3600, NULL, \
           MF_MEETING(detection_rate), "detection runs this often; 0: every step"), \
    MF_KEY("interaction.collisions", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, MF_KEY_NOWHERE, \
           "agents that touch are dead: frozen and left out from then on"), \
    MF_KEY("interaction.collisions.agents", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, \
           MF_MEETING(collide), "agents that touch each other"), \
    MF_KEY("interaction.collisions.terrain", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, \
           MF_MEETING(terrain), "aircraft that hit the ground"), \
    MF_KEY("interaction.collisions.tolerance", MF_KEY_REAL, 0, "m", "0.01", 0, 1e3, NULL, \
           MF_MEETING(terrain_tolerance), "so much lower than where they stand"), \
    MF_KEY("interaction.collisions.interval", MF_KEY_RATE, 0, "s", "0", 0, 3600, NULL, \
           MF_MEETING(collision_rate), "of collisions, ground and fence; 0: every step"), \
    MF_KEY("interaction.fence", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, MF_KEY_NOWHERE, \
           "a box that agents should stay in"), \
    MF_KEY("interaction.fence.watch", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, MF_MEETING(fence), \
           "report who leaves it"), \
    MF_KEY("interaction.fence.deadly", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, \
           MF_MEETING(fence_faults), "who leaves it is dead"), \
    MF_KEY_TUPLE("interaction.fence.lower", MF_KEY_VECTOR, 3, 0, "m", "[-1000, -1000, -1000]", -1e9, \
                 1e9, MF_MEETING(fence_low), "low corner"), \
    MF_KEY_TUPLE("interaction.fence.upper", MF_KEY_VECTOR, 3, 0, "m", "[1000, 1000, 1000]", -1e9, \
                 1e9, MF_MEETING(fence_high), "high corner"), \
    MF_KEY("interaction.air", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, MF_KEY_NOWHERE, \
           "wind and downwash"), \
    MF_KEY("interaction.air.downwash", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, \
           MF_MEETING(downwash), "groups with a rotor_area push the air below them down"), \
    MF_KEY("interaction.air.downwash_reach", MF_KEY_REAL, 0, "m", "4", 0.1, 1e3, NULL, \
           MF_MEETING(downwash_reach), "down to where"), \
    MF_KEY("interaction.air.density", MF_KEY_REAL, 0, "kg/m^3", "1.225", 1e-3, 100, NULL, \
           MF_MEETING(air_density), "of the air that rotors push"), \
    MF_KEY_TUPLE("interaction.air.wind", MF_KEY_VECTOR, 3, 0, "m/s", "[0, 0, 0]", -200, 200, \
                 MF_MEETING(wind), "of the undisturbed air, world frame"), \
    MF_KEY("interaction.air.profile", MF_KEY_CHOICE, 0, "", "uniform", 0, 0, mf_wind_profiles, \
           MF_MEETING(profile), "`logarithmic`: wind grows with height"), \
    MF_KEY("interaction.air.ground", MF_KEY_REAL, 0, "m", "0", -1e6, 1e6, NULL, \
           MF_MEETING(wind_ground), "height that the profile counts from"), \
    MF_KEY("interaction.air.roughness", MF_KEY_REAL, 0, "m", "0.03", 1e-5, 10, NULL, \
           MF_MEETING(wind_roughness), "of the ground; 0.03: grassland"), \
    MF_KEY("interaction.air.reference", MF_KEY_REAL, 0, "m", "10", 1e-5, 1e4, NULL, \
           MF_MEETING(wind_reference), "height at which `wind` blows"), \
    MF_KEY("interaction.air.interval", MF_KEY_RATE, 0, "s", "0", 0, 3600, NULL, \
           MF_MEETING(air_rate), "wind is written this often; 0: every step")
// clang-format on

#endif
