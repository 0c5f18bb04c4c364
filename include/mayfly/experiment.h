// Mayfly: experiments. A YAML file names model, terrain, motion, controller, fitness and search;
// from it come a world to watch and an evaluator to evolve with.
#ifndef MAYFLY_EXPERIMENT_H
#define MAYFLY_EXPERIMENT_H

#include <mayfly/control.h>
#include <mayfly/motion.h>
#include <mayfly/points.h>
#include <mayfly/search.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mf_ControllerKind {
    MF_CONTROLLER_GP,
    MF_CONTROLLER_OSCILLATOR,
    MF_CONTROLLER_NONE,
    MF_CONTROLLER_PLUGIN // from a shared library (plugin.h)
} mf_ControllerKind;

// What evolution wants more of (docs/reference/experiments.md, Fitness).
typedef enum mf_Fitness {
    MF_FITNESS_DISTANCE, // [m] horizontal distance of the base from its start at the end
    MF_FITNESS_SPEED,    // [m/s] mean speed of the base along its own heading
    MF_FITNESS_ECONOMY,  // [m/J] distance per work of the servos; only at `articulated`
    MF_FITNESS_UPRIGHT,  // [m] distance times the mean cosine of the base's tilt
    MF_FITNESS_STEPS     // [m] distance times the share of feet that step
} mf_Fitness;
MF_API const char *mf_fitness_unit(mf_Fitness fitness);  // "m/s"
MF_API const char *mf_fitness_title(mf_Fitness fitness); // "distance per energy"

typedef struct mf_Scene mf_Scene;

// What a program puts in the place of parts that an experiment file can name. All zero: nothing.
// Set it between loading the experiment and making a scene; scenes, evaluations, trials and reports
// of that experiment then use it. The archive does not store it.
typedef struct mf_ExperimentHooks {
    // Fitness of an instance at the end of its life; larger is better, NaN counts as worst. Not
    // asked for a robot with a fault. NULL: what the experiment names.
    double (*fitness)(const mf_Scene *scene, uint32_t instance, void *user);
    // Called once for a scene whose motion, sensors and controller stand: adds a controller, fields
    // that the fitness reads, or other systems to scene->group. What it adds is part of the state
    // that every evaluation starts from. NULL: nothing to add.
    mf_Status (*attach)(mf_Scene *scene, void *user, mf_Error *error);
    // Gives an instance the controller that a genome describes, in an experiment with
    // `controller: none`. NULL: nothing to evolve there.
    void (*apply_genome)(mf_Scene *scene, uint32_t instance, const uint8_t *genome, void *user);
    uint32_t genome_bytes; // [byte] of its genome, 1 .. 4096; used with apply_genome
    void *user;            // handed to all of them; borrowed
} mf_ExperimentHooks;

// The level to look again at: of robots that a search found at the cheap one.
typedef enum mf_VerifyMotion {
    MF_VERIFY_NONE,
    MF_VERIFY_KINEMATIC, // and on in the order of mf_Motion
    MF_VERIFY_POINTS,
    MF_VERIFY_RIGID,
    MF_VERIFY_PRESCRIBED,
    MF_VERIFY_ARTICULATED
} mf_VerifyMotion;

typedef struct mf_VerifyConfig {
    mf_VerifyMotion motion; // default MF_VERIFY_NONE
    uint32_t every;         // [1] generations; default 10
    uint32_t best;          // [1] robots; default 8
    mf_Time step;           // [ns] physics step at that level; default 1 ms
    double disparity;       // [1] weight of the difference between the levels; default 1
    double stiffness;       // [1] of a second life there, as servo_stiffness; 1, the default: none
} mf_VerifyConfig;

#define MF_INITIAL_VALUES 1024u // [1] most values of one of them

// What a property of every robot begins with.
typedef struct mf_InitialValue {
    const char *path;     // within the robot, as mf_property_list_in takes it
    double *values;       // [1] or in the property's unit; borrowed
    uint32_t value_count; // [1] as many as the property has, or one for all
    int32_t line;         // [1] in the file, 0 when unknown
    int32_t column;       // [1]
} mf_InitialValue;

// Everything an experiment file says, defaults filled in. Strings belong to the experiment.
typedef struct mf_Experiment {
    const char *file;       // path it was read from
    const char *name;       // title for reports
    const char *model_path; // resolved against the file's folder
    mf_ImportConfig import;
    const char *terrain_path; // resolved; NULL when generated
    mf_TerrainConfig terrain;
    mf_TerrainGenerator generator;
    double terrain_scale;  // [m]
    double terrain_offset; // [m]
    mf_Time step;          // [ns]
    double gravity;        // [m/s^2]
    bool double_precision;
    mf_Motion motion; // of scenes; default MF_MOTION_POINTS
    mf_PointsConfig points;
    double servo_gain;    // [N m/rad] or [N/m] of joints at `articulated`; 0: from the robot's file
    double servo_damping; // [N m s/rad] or [N s/m]; 0: from the robot's file
    double servo_speed;   // [rad/s] or [m/s] at most; 0: from the robot's file
    double servo_stiffness; // [1] times the gain, and its root times the damping; default 1
    mf_ControllerKind controller;
    mf_GpConfig gp;
    mf_OscillatorConfig oscillator;
    mf_InitialValue *initial;
    uint32_t initial_count;  // [1]
    const char *plugin_path; // resolved
    mf_Rate plugin_rate;     // [1/s]
    uint32_t count;          // [1] robots of `mayfly run`
    double duration;         // [s] of one evaluation or run
    mf_Fitness fitness;      // default MF_FITNESS_DISTANCE
    uint32_t generations;    // [1]
    mf_SearchConfig search;
    mf_VerifyConfig verify;
    mf_ExperimentHooks hooks; // all zero after loading
    mf_Context *context;
} mf_Experiment;

// One "path=value" override, for example "search.population=200".
typedef struct mf_Override {
    const char *path;
    const char *value;
} mf_Override;

// Reads and checks an experiment file; overrides are applied before the check. Errors name
// file:line:column and what was expected.
MF_API mf_Status mf_experiment_load(mf_Context *context, const char *path,
                                    const mf_Override *overrides, uint32_t override_count,
                                    mf_Experiment **out, mf_Error *error);
// The same from memory; `path` is used in messages and to resolve other files.
MF_API mf_Status mf_experiment_parse(mf_Context *context, const char *path, const char *text,
                                     size_t size, const mf_Override *overrides,
                                     uint32_t override_count, mf_Experiment **out, mf_Error *error);
MF_API void mf_experiment_destroy(mf_Experiment *experiment); // NULL is fine

// The whole experiment as YAML text with every default written out; loading it again gives the same
// experiment. From mf_allocate.
MF_API mf_Status mf_experiment_write(const mf_Experiment *experiment, char **text, mf_Error *error);

// The same experiment at another level, for scenes, trials and evaluations: `out` borrows all from
// `experiment` and must not be destroyed. Levels other than points and its own take the step of
// `verify`.
MF_API void mf_experiment_at_level(const mf_Experiment *experiment, mf_Motion motion,
                                   mf_Experiment *out);

// A world made from an experiment, with everything it borrows.
typedef struct mf_Scene {
    mf_Experiment *experiment; // borrowed
    mf_Model *model;
    mf_Terrain *terrain;
    mf_World *world;
    mf_Group *group;
    void *start;       // image of the world at time 0, from which each evaluation begins
    size_t start_size; // [byte]
} mf_Scene;

// Loads model and terrain and makes a world with one isolated group of `count` robots, all at their
// start with an idle controller. Sets experiment->search.genome_bytes.
MF_API mf_Status mf_scene_create(mf_Context *context, mf_Experiment *experiment, uint32_t count,
                                 mf_Scene *out, mf_Error *error);
MF_API void mf_scene_destroy(mf_Scene *scene);

// Bytes of a genome for the experiment's controller (32 for GP, 3 per joint + 1 for oscillators,
// for none those of the hooks or 0). docs/reference/experiments.md says what the bytes mean.
MF_API uint32_t mf_scene_genome_bytes(const mf_Scene *scene);
// Gives an instance the controller that a genome describes.
MF_API void mf_scene_apply_genome(mf_Scene *scene, uint32_t instance, const uint8_t *genome);
// Horizontal distance [m] of the base from its start place; 0 for a robot with a fault.
MF_API double mf_scene_distance(const mf_Scene *scene, uint32_t instance);

// What evolution wants more of: the experiment's fitness, or that of its hooks. NaN for a robot
// with a fault.
MF_API double mf_scene_fitness(const mf_Scene *scene, uint32_t instance);

// An mf_EvaluateFn whose `user` is a scene with at least as many robots as the population: puts the
// world back to time 0, applies genomes, steps for the experiment's duration (rounded up to whole
// steps), takes mf_scene_fitness. Robots without a genome idle.
MF_API mf_Status mf_scene_evaluate(void *scene, const uint8_t *genomes, uint32_t count,
                                   uint32_t genome_bytes, double *fitness, mf_Error *error);

#ifdef __cplusplus
}
#endif
#endif
