// The keys of swarms' files: those of the world and, as a list, those of its groups.
#include "experiment/ground_keys.h"
#include "experiment/interaction_keys.h"
#include "experiment/vehicle_keys.h"

#include <string.h>

static const char *const precisions[] = {"float", "double", NULL};
static const char *const integrators[] = {"euler", "semi_implicit", "heun", "rk4", NULL};
static const char *const car_models[] = {"kinematic", "dynamic", "blended", NULL};
static const char *const car_tyres[] = {"pacejka", "curvature", "linear", NULL};
static const char *const turbulences[] = {"none",         "low_light",       "low_moderate",
                                          "medium_light", "medium_moderate", NULL};
static const char *const placements[] = {"grid", "circle", "random", NULL};
static const char *const behaviours[] = {"hold",      "command", "orbit", "formation",
                                         "waypoints", "flock",   NULL};

// Enums are read and written as int, lists as a pointer with a number behind it.
_Static_assert(sizeof(mf_Integrator) == sizeof(int) && sizeof(mf_CarModel) == sizeof(int) &&
                   sizeof(mf_CarTyre) == sizeof(int) && sizeof(mf_Turbulence) == sizeof(int) &&
                   sizeof(mf_PlacementKind) == sizeof(int) &&
                   sizeof(mf_BehaviourKind) == sizeof(int),
               "choices are stored as int");
_Static_assert(offsetof(mf_Behaviour, value_count) - offsetof(mf_Behaviour, values) ==
                       offsetof(mf_KeyList, count) &&
                   offsetof(mf_Behaviour, point_count) - offsetof(mf_Behaviour, points) ==
                       offsetof(mf_KeyList, count) &&
                   offsetof(mf_Swarm, group_count) - offsetof(mf_Swarm, groups) ==
                       offsetof(mf_KeyList, count),
               "lists are stored as mf_KeyList");

#define GROUP(member) offsetof(mf_SwarmGroup, member)
#define SWARM(member) offsetof(mf_Swarm, member)
#define NOWHERE MF_KEY_NOWHERE

// clang-format off
static const mf_Key group_keys[] = {
    MF_KEY("name", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, GROUP(name),
           "what the group is called in summaries, records and overrides"),
    MF_KEY("vehicle", MF_KEY_FILE, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, GROUP(vehicle_path),
           "file of the vehicle, relative to the folder of this file"),
    MF_KEY("count", MF_KEY_COUNT, 0, "1", "1", 1, 1 << 26, NULL, GROUP(count), "agents"),
    MF_KEY("precision", MF_KEY_DOUBLE, 0, "", "float", 0, 0, precisions, GROUP(double_precision),
           "of the state: `float` is fast, `double` is for checking"),
    MF_KEY("integrator", MF_KEY_CHOICE, 0, "", "rk4", 0, 0, integrators, GROUP(integrator),
           "how the equations are stepped"),
    MF_KEY("control_interval", MF_KEY_TIME, 0, "s", "0", 0, 10, NULL, GROUP(control_interval),
           "the loops on board run this often, a multiple of world.step; 0: every step"),
    MF_KEY("collides", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, GROUP(collides),
           "meets others"),
    MF_KEY("rotor_area", MF_KEY_REAL, 0, "m^2", "0", 0, 1e6, NULL, GROUP(rotor_area),
           "of all rotor discs together; above 0 the group pushes air down on those below"),
    MF_KEY("car", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE, "only for cars"),
    MF_KEY("car.model", MF_KEY_CHOICE, 0, "", "blended", 0, 0, car_models, GROUP(car_model),
           "how the car turns; `blended`: kinematic when slow, dynamic when fast"),
    MF_KEY("car.tyre", MF_KEY_CHOICE, 0, "", "pacejka", 0, 0, car_tyres, GROUP(car_tyre),
           "lateral force of the tyres"),
    MF_KEY("quadrotor", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE, "only for quadrotors"),
    MF_KEY("quadrotor.outer_interval", MF_KEY_TIME, 0, "s", "0", 0, 10, NULL,
           GROUP(outer_interval),
           "attitude, velocity and position loops run this often, a multiple of control_interval; "
           "0: as often as the body-rate loop"),
    MF_KEY("fixed_wing", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
           "only for fixed wings"),
    MF_KEY("fixed_wing.turbulence", MF_KEY_CHOICE, 0, "", "none", 0, 0, turbulences,
           GROUP(turbulence), "gusts by the Dryden model"),

    MF_KEY("placement", MF_KEY_VARIANT, 0, "", "grid", 0, 0, placements, GROUP(placement.kind),
           "where the agents start; heights are above the ground, cars stand on it"),
    MF_KEY("placement.grid", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
           "rows and columns, layer above layer"),
    MF_KEY_TUPLE("placement.grid.center", MF_KEY_VECTOR, 3, 0, "m", "[0, 0, 10]", -1e6, 1e6,
                 GROUP(placement.center), "middle of the lowest layer"),
    MF_KEY_TUPLE("placement.grid.spacing", MF_KEY_VECTOR, 3, MF_KEY_ABOVE, "m", "[5, 5, 5]", 0, 1e6,
                 GROUP(placement.spacing), "between columns, rows and layers"),
    MF_KEY("placement.grid.columns", MF_KEY_COUNT, 0, "1", "0", 0, 1 << 26, NULL,
           GROUP(placement.columns), "agents along x; 0: as many as rows"),
    MF_KEY("placement.grid.layers", MF_KEY_COUNT, 0, "1", "1", 1, 1 << 26, NULL,
           GROUP(placement.layers), "layers"),
    MF_KEY("placement.circle", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
           "evenly on a circle"),
    MF_KEY_TUPLE("placement.circle.center", MF_KEY_VECTOR, 3, 0, "m", "[0, 0, 10]", -1e6, 1e6,
                 GROUP(placement.center), "middle of the circle"),
    MF_KEY("placement.circle.radius", MF_KEY_REAL, MF_KEY_ABOVE, "m", "100", 0, 1e6, NULL,
           GROUP(placement.radius), "of the circle"),
    MF_KEY("placement.circle.along", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL,
           GROUP(placement.along), "face along the circle, anticlockwise, instead of `heading`"),
    MF_KEY("placement.random", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
           "anywhere in a box, without overlap"),
    MF_KEY_TUPLE("placement.random.lower", MF_KEY_VECTOR, 3, 0, "m", "[-100, -100, 10]", -1e6, 1e6,
                 GROUP(placement.lower), "low corner of the box"),
    MF_KEY_TUPLE("placement.random.upper", MF_KEY_VECTOR, 3, 0, "m", "[100, 100, 60]", -1e6, 1e6,
                 GROUP(placement.upper), "high corner of the box"),
    MF_KEY("placement.random.distance", MF_KEY_REAL, 0, "m", "0", 0, 1e6, NULL,
           GROUP(placement.distance), "least distance of centres; 0: just without contact"),
    MF_KEY("placement.random.seed", MF_KEY_SEED, 0, "1", "1", 0, 0, NULL, GROUP(placement.seed),
           "of the places"),
    MF_KEY("heading", MF_KEY_REAL, 0, "rad", "0", -10, 10, NULL, GROUP(placement.heading),
           "at the start: east is 0, north pi/2"),
    MF_KEY("speed", MF_KEY_REAL, 0, "m/s", "0", 0, 1e3, NULL, GROUP(placement.speed),
           "at the start, along the heading; 0 for fixed wings: their design airspeed"),

    MF_KEY("behaviour", MF_KEY_VARIANT, 0, "", "hold", 0, 0, behaviours, GROUP(behaviour.kind),
           "what the agents are told to do; `hold`: hover, fly on, stand"),
    MF_KEY("behaviour.command", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
           "constant values"),
    MF_KEY("behaviour.command.mode", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL,
           GROUP(behaviour.mode),
           "command mode. quadrotor: rotors, rates, attitude, velocity, position; fixed_wing: "
           "surfaces, autopilot, orbit; car: drive, speed, circle, waypoint"),
    MF_KEY_TUPLE("behaviour.command.values", MF_KEY_NUMBERS, 8, MF_KEY_REQUIRED, "", NULL, -1e9, 1e9,
                 GROUP(behaviour.values), "in the order of the mode's command fields, SI units"),
    MF_KEY("behaviour.orbit", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
           "all around one circle, evenly spaced, anticlockwise"),
    MF_KEY_TUPLE("behaviour.orbit.center", MF_KEY_VECTOR, 2, 0, "m", "[0, 0]", -1e6, 1e6,
                 GROUP(behaviour.center), "middle of the circle"),
    MF_KEY("behaviour.orbit.radius", MF_KEY_REAL, MF_KEY_ABOVE, "m", "100", 0, 1e6, NULL,
           GROUP(behaviour.radius), "of the circle"),
    MF_KEY("behaviour.orbit.height", MF_KEY_REAL, 0, "m", "50", -1e5, 1e5, NULL,
           GROUP(behaviour.height), "in the world frame; cars stay on the ground"),
    MF_KEY("behaviour.orbit.speed", MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "5", 0, 1e3, NULL,
           GROUP(behaviour.speed), "along the circle"),
    MF_KEY("behaviour.formation", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
           "evenly spaced on circles inside each other"),
    MF_KEY_TUPLE("behaviour.formation.center", MF_KEY_VECTOR, 2, 0, "m", "[0, 0]", -1e6, 1e6,
                 GROUP(behaviour.center), "middle of all circles"),
    MF_KEY("behaviour.formation.circles", MF_KEY_COUNT, 0, "1", "5", 1, 1024, NULL,
           GROUP(behaviour.circles), "how many"),
    MF_KEY("behaviour.formation.radius", MF_KEY_REAL, MF_KEY_ABOVE, "m", "100", 0, 1e6, NULL,
           GROUP(behaviour.radius), "of the innermost circle"),
    MF_KEY("behaviour.formation.gap", MF_KEY_REAL, MF_KEY_ABOVE, "m", "20", 0, 1e6, NULL,
           GROUP(behaviour.gap), "from circle to circle"),
    MF_KEY("behaviour.formation.height", MF_KEY_REAL, 0, "m", "50", -1e5, 1e5, NULL,
           GROUP(behaviour.height), "of the innermost circle, in the world frame"),
    MF_KEY("behaviour.formation.rise", MF_KEY_REAL, 0, "m", "0", -1e4, 1e4, NULL,
           GROUP(behaviour.rise), "from circle to circle, outward"),
    MF_KEY("behaviour.formation.alternate", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL,
           GROUP(behaviour.alternate), "every second circle turns clockwise"),
    MF_KEY("behaviour.formation.separation", MF_KEY_REAL, 0, "m", "0", 0, 1e6, NULL,
           GROUP(behaviour.separation),
           "quadrotors keep away from detected neighbours nearer than this; 0: they do not look"),
    MF_KEY("behaviour.formation.speed", MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "5", 0, 1e3, NULL,
           GROUP(behaviour.speed), "along the circles"),
    MF_KEY("behaviour.waypoints", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
           "from place to place; agents keep their places relative to each other"),
    MF_KEY_TUPLE("behaviour.waypoints.points", MF_KEY_POINTS, 3, MF_KEY_REQUIRED, "m", NULL, -1e6,
                 1e6, GROUP(behaviour.points), "places of the group's middle, in the world frame"),
    MF_KEY("behaviour.waypoints.reached", MF_KEY_REAL, MF_KEY_ABOVE, "m", "5", 0, 1e6, NULL,
           GROUP(behaviour.reached), "near enough to go on to the next"),
    MF_KEY("behaviour.waypoints.loop", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL,
           GROUP(behaviour.loop), "start again after the last"),
    MF_KEY("behaviour.waypoints.speed", MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "5", 0, 1e3, NULL,
           GROUP(behaviour.speed), "on the way"),
    MF_KEY("behaviour.flock", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
           "Reynolds' boids: each agent acts on the neighbours that it detects"),
    MF_KEY("behaviour.flock.speed", MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "5", 0, 1e3, NULL,
           GROUP(behaviour.speed), "of every agent"),
    MF_KEY("behaviour.flock.separation", MF_KEY_REAL, MF_KEY_ABOVE, "m", "3", 0, 1e6, NULL,
           GROUP(behaviour.separation), "nearer neighbours are avoided"),
    MF_KEY("behaviour.flock.separation_weight", MF_KEY_REAL, 0, "1", "1.5", 0, 1e3, NULL,
           GROUP(behaviour.separation_weight), "away from near neighbours"),
    MF_KEY("behaviour.flock.alignment_weight", MF_KEY_REAL, 0, "1", "1", 0, 1e3, NULL,
           GROUP(behaviour.alignment_weight), "towards the neighbours' mean velocity"),
    MF_KEY("behaviour.flock.cohesion_weight", MF_KEY_REAL, 0, "1", "1", 0, 1e3, NULL,
           GROUP(behaviour.cohesion_weight), "towards the neighbours' middle"),
    MF_KEY("behaviour.flock.goal_weight", MF_KEY_REAL, 0, "1", "0.2", 0, 1e3, NULL,
           GROUP(behaviour.goal_weight), "towards the goal"),
    MF_KEY_TUPLE("behaviour.flock.goal", MF_KEY_VECTOR, 3, 0, "m", "[0, 0, 50]", -1e6, 1e6,
                 GROUP(behaviour.goal), "a place that all are drawn to"),
    MF_KEY("behaviour_interval", MF_KEY_RATE, 0, "s", "0.05", 1e-6, 3600, NULL,
           GROUP(behaviour.rate), "commands are written this often"),
};

// Settings of other kinds of vehicles mean nothing.
static bool fits_vehicle(const void *base, const mf_Key *key) {
    const mf_SwarmGroup *group = base;
    bool car = strncmp(key->path, "car", 3) == 0;
    bool wing = strncmp(key->path, "fixed_wing", 10) == 0;
    bool quadrotor = strncmp(key->path, "quadrotor", 9) == 0;
    mf_VehicleKind kind = group->vehicle != NULL ? group->vehicle->kind : MF_VEHICLE_QUADROTOR;
    return !(car && kind != MF_VEHICLE_CAR) && !(wing && kind != MF_VEHICLE_FIXED_WING) &&
           !(quadrotor && kind != MF_VEHICLE_QUADROTOR);
}

static const mf_KeyTable group_table = {.noun = "group",
                                        .keys = group_keys,
                                        .count = sizeof group_keys / sizeof group_keys[0],
                                        .size = sizeof(mf_SwarmGroup),
                                        .applies = fits_vehicle};

static const mf_Key swarm_keys[] = {
    MF_KEY("name", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, SWARM(name),
           "title; when empty, the name of the file"),
    MF_GROUND_KEYS(SWARM),

    MF_KEY("world", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE, "time and forces"),
    MF_KEY("world.step", MF_KEY_TIME, 0, "s", "0.002", 1e-6, 1, NULL, SWARM(step), "physics step"),
    MF_KEY("world.gravity", MF_KEY_REAL, 0, "m/s^2", "9.81", 0, 1000, NULL, SWARM(gravity),
           "downward along -z"),
    MF_KEY("world.seed", MF_KEY_SEED, 0, "1", "1", 0, 0, NULL, SWARM(seed),
           "of gusts and everything else random in the world"),

    MF_INTERACTION_KEYS,
    MF_KEY("run", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE, "one run"),
    MF_KEY("run.duration", MF_KEY_REAL, 0, "s", "30", 1e-6, 1e9, NULL, SWARM(duration),
           "simulated time; rounded up to whole steps"),

    MF_KEY_LISTED("groups", MF_KEY_REQUIRED, &group_table, SWARM(groups),
                  "the groups of vehicles, each with the keys below"),
};
// clang-format on

static void start(void *base) {
    mf_Swarm *swarm = base;
    swarm->terrain = mf_terrain_config();
    swarm->interaction = mf_interaction_config();
}

static bool applies(const void *base, const mf_Key *key) {
    const mf_Swarm *swarm = base;
    return !(key->flags & (swarm->terrain_path != NULL ? MF_KEY_SHAPE : MF_KEY_IMAGE));
}

const mf_KeyTable *mf_swarm_table(void) {
    static const mf_KeyTable table = {.noun = "swarm",
                                      .keys = swarm_keys,
                                      .count = sizeof swarm_keys / sizeof swarm_keys[0],
                                      .size = sizeof(mf_Swarm),
                                      .start = start,
                                      .applies = applies};
    return &table;
}
