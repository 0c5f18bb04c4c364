// Worlds made from files of robots: what its parts share.
#ifndef MAYFLY_ROBOTS_SCENE_H
#define MAYFLY_ROBOTS_SCENE_H

#include <mayfly/robots.h>

// The world system that changes motions by the rules of all groups.
mf_Status mf_robots_add_rules(const mf_RobotsScene *scene, mf_Error *error);

// The world system that plays soccer, and counts goals; *out belongs to the world.
mf_Status mf_robots_add_play(const mf_RobotsScene *scene, mf_Play **out, mf_Error *error);

#endif
