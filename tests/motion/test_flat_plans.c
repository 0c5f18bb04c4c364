// Plans are flat images: during a run their bytes are copied to other memory and the originals
// overwritten, and the result equals that of an undisturbed run.
#include "motion/rig.h"

#include "motion/articulated/motion.h"
#include "motion/articulated/sensing/sensing.h"
#include "motion/body/driven.h"
#include "motion/kinematic/motion.h"

// ---- robots of the test -------------------------------------------------------------------------

// Two chains that touch each other and the ground, closed by a loop, with a fixed and a spatial
// tendon, actuators of several kinds, and sensors of contacts, forces and limits.
static const char everything[] =
    "<mujoco><option timestep='0.002' density='1.2' viscosity='1e-5'/>"
    "<asset><mesh name='rock' vertex='0 0 0 .1 0 0 0 .1 0 0 0 .1 .08 .08 .08'/></asset>"
    "<worldbody><geom name='floor' type='plane' size='0 0 1'/>"
    "<site name='hook' pos='0 0 1.2'/>"
    "<body name='trunk' pos='0 0 .3'><freejoint/><geom name='box' type='box' size='.1 .1 .05'/>"
    "<site name='top' pos='0 0 .05'/>"
    "<body name='left' pos='.15 0 0'><joint name='a' axis='0 1 0' range='-40 40' limited='true'"
    " damping='.1' frictionloss='.05' stiffness='1'/>"
    "<geom name='l' type='capsule' fromto='0 0 0 0 0 -.2' size='.03'/>"
    "<body name='tip' pos='0 0 -.2'><joint name='b' type='ball'/>"
    "<geom name='t' type='cylinder' size='.04 .03'/><site name='end'/></body></body>"
    "<body name='right' pos='.15 .07 0'><joint name='c' axis='0 1 0'/>"
    "<joint name='d' type='slide' axis='0 0 1' range='-.02 .02' limited='true'/>"
    "<geom name='r' type='ellipsoid' size='.03 .03 .15' fluidshape='ellipsoid'/>"
    "<site name='side' pos='0 0 -.1'/></body></body>"
    "<body name='stone' pos='.3 .3 .2'><freejoint/><geom name='s' type='mesh' mesh='rock'/></body>"
    "</worldbody>"
    "<equality><joint joint1='a' joint2='c' polycoef='0 1 0 0 0'/></equality>"
    "<tendon><fixed name='f' range='-.2 .2' limited='true'><joint joint='a' coef='1'/>"
    "<joint joint='c' coef='-.5'/></fixed>"
    "<spatial name='rope' range='0 1.1' limited='true' stiffness='3'><site site='hook'/>"
    "<site site='top'/><site site='end'/></spatial></tendon>"
    "<actuator><motor joint='a' gear='2'/><position joint='c' kp='5'/><general tendon='rope'"
    " dyntype='filter' dynprm='.05' gainprm='2'/><motor site='side' gear='1 0 0 0 .1 0'/>"
    "<muscle tendon='f' lengthrange='-.3 .3'/><adhesion body='trunk' gain='2' ctrlrange='0 1'/>"
    "</actuator>"
    "<sensor><contact geom1='floor' data='found dist pos' num='2'/>"
    "<contact body1='left' subtree2='right' data='found dist normal'/><force site='end'/>"
    "<touch site='side'/><tendonpos tendon='rope'/><tendonvel tendon='rope'/></sensor></mujoco>";

// Like a person from the hips down: two legs of four hinges with soles.
static const char walker[] =
    "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='0 0 1'/>"
    "<body name='hips' pos='0 0 .55'><freejoint/><geom type='box' size='.08 .12 .06'/>"
    "<body pos='0 .08 -.06'><joint name='lr' axis='1 0 0'/><joint name='lp' axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -.2' size='.03'/>"
    "<body pos='0 0 -.22'><joint name='lk' axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -.18' size='.03'/>"
    "<body pos='0 0 -.22'><joint name='la' axis='0 1 0'/>"
    "<geom type='box' pos='.03 0 -.02' size='.09 .04 .02'/></body></body></body>"
    "<body pos='0 -.08 -.06'><joint name='rr' axis='1 0 0'/><joint name='rp' axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -.2' size='.03'/>"
    "<body pos='0 0 -.22'><joint name='rk' axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -.18' size='.03'/>"
    "<body pos='0 0 -.22'><joint name='ra' axis='0 1 0'/>"
    "<geom type='box' pos='.03 0 -.02' size='.09 .04 .02'/></body></body></body>"
    "</body></worldbody></mujoco>";

// ---- a run --------------------------------------------------------------------------------------

enum { ROBOTS = 5, STEPS = 15, MOST_IMAGES = 2 };

typedef struct Run {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
    mf_Motion motion;
    void *old[MOST_IMAGES]; // images that were overwritten
    uint32_t old_count;
} Run;

typedef struct Case {
    const char *text; // of the file; NULL: `path` has it
    const char *path; // in the shared models
    mf_Motion motion;
    mf_ContactLaw law;
    bool sensors;
} Case;

static bool run_load(Run *run, const Case *c) {
    const char *shared = getenv("MAYFLY_SHARED");
    if (c->text != NULL) {
        run->model = load_text(run->context, c->text);
        return true;
    }
    const char *path = formatted("%s/models/%s",
                                 shared != NULL ? shared : MAYFLY_SOURCE_DIR "/../shared", c->path);
    if (access(path, R_OK) != 0)
        return false;
    MUST(mf_model_load(run->context, path, &WITH(mf_import_config(), .lenient = true), &run->model,
                       &error));
    return true;
}

// Each robot starts and is driven in its own way.
static void run_scatter(const Run *run) {
    static const struct {
        const char *field;
        double scale;
    } inputs[] = {{"joint.target", 0.05}, {"joint.rate", 0.3}, {"actuator.control", 0.2}};
    for (uint32_t i = 0; i < ROBOTS; i++)
        for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++) {
            mf_Field *field = mf_group_find_field(run->group, inputs[k].field);
            for (uint32_t j = 0; field != NULL && j < field->components; j++)
                mf_field_set(field, i, j,
                             mf_field_get(field, i, j) +
                                 inputs[k].scale * ((double)((7 * i + 3 * j) % 11) / 11.0 - 0.4));
        }
}

static bool run_open(Run *run, const Case *c) {
    *run = (Run){.context = open_context(1), .motion = c->motion};
    if (!run_load(run, c)) {
        mf_context_destroy(run->context);
        return false;
    }
    mf_GroupConfig group = mf_group_config();
    mf_MotionsConfig motions = mf_motions_config();
    group.model = run->model;
    group.count = ROBOTS;
    motions.articulated.shapes = motions.rigid.shapes = motions.prescribed.shapes =
        motions.kinematic.shapes = c->text != NULL || c->motion == MF_MOTION_ARTICULATED;
    motions.articulated.contact_law = c->law;
    motions.rigid.control_interval = motions.prescribed.control_interval = 4 * MF_MILLISECOND;
    run->world = open_world(run->context,
                            &WITH(mf_world_config_for(run->model), .step = 2 * MF_MILLISECOND));
    run->group = add_group(run->world, &group);
    MUST(mf_motion_add(run->group, c->motion, &motions, &error));
    if (c->sensors)
        MUST(mf_sensors_add(run->group, NULL, &error));
    run_scatter(run);
    return true;
}

static void run_close(Run *run) {
    for (uint32_t i = 0; i < run->old_count; i++)
        mf_release(run->context, run->old[i]);
    mf_world_destroy(run->world);
    mf_model_destroy(run->model);
    close_context(run->context);
}

// ---- moving the plan ----------------------------------------------------------------------------

// A copy of an image, all of which is then overwritten.
static void *image_move(Run *run, void *image) {
    const uint32_t bytes = *(const uint32_t *)image;
    char *copy = mf_allocate(run->context, 1, bytes);
    assert_non_null(copy);
    assert_true(run->old_count < MOST_IMAGES);
    memcpy(copy, image, bytes);
    memset(image, 0xee, bytes);
    run->old[run->old_count++] = image;
    return copy;
}

static const mf_MotionRow *row_of_motion(mf_Motion motion) {
    return motion == MF_MOTION_ARTICULATED  ? &mf_articulated_row
           : motion == MF_MOTION_RIGID      ? &mf_rigid_row
           : motion == MF_MOTION_PRESCRIBED ? &mf_prescribed_row
                                            : &mf_kinematic_row;
}

// `everywhere`: the plan has arrays of all kinds.
static void run_move(Run *run, bool everywhere) {
    void *user = mf_motion_plan(run->group, row_of_motion(run->motion));
    assert_non_null(user);
    if (run->motion == MF_MOTION_ARTICULATED) {
        mf_ArtMotion *motion = user;
        if (everywhere) {
            const mf_ArtPlan *plan = motion->plan;
            assert_true(plan->loop_count > 0 && plan->tendon_count > 0 && plan->path_count > 0);
            assert_true(plan->actuator_count > 0 && plan->zone_count > 0 && plan->fluid_count > 0);
            assert_true(plan->contact_count > 0 && plan->pair_count > 0 && plan->adhesion);
            assert_true(motion->hulls->count > 0 && motion->sensing->contacts);
        }
        mf_art_bind_plan(motion, image_move(run, motion->plan));
        if (motion->sensing != NULL)
            motion->sensing = image_move(run, motion->sensing);
    } else if (run->motion == MF_MOTION_KINEMATIC) {
        mf_KinMotion *motion = user;
        mf_kin_bind_plan(motion, image_move(run, motion->plan));
    } else {
        mf_DrivenMotion *motion = user;
        mf_driven_bind_plan(motion, image_move(run, motion->plan));
    }
}

// Returns false where there is no such file.
static bool hash_of(const Case *c, bool moves, uint64_t *hash) {
    Run run;
    if (!run_open(&run, c))
        return false;
    const uint64_t start = mf_world_hash(run.world);
    mf_world_step(run.world, STEPS);
    if (moves)
        run_move(&run, c->text == everything);
    mf_world_step(run.world, STEPS);
    *hash = mf_world_hash(run.world);
    assert_true(*hash != start);
    run_close(&run);
    return true;
}

static void assert_flat(const Case *c) {
    uint64_t alone, moved;
    if (!hash_of(c, false, &alone))
        skip();
    assert_true(hash_of(c, true, &moved));
    if (moved != alone)
        fail_msg("%s: a moved plan gives another run", c->path != NULL ? c->path : "text");
}

// ---- tests --------------------------------------------------------------------------------------

TEST(articulated_with_everything) {
    static const mf_ContactLaw laws[] = {MF_CONTACT_LAW_MUJOCO, MF_CONTACT_LAW_COMPLIANT,
                                         MF_CONTACT_LAW_HARD};
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
        assert_flat(&(Case){
            .text = everything, .motion = MF_MOTION_ARTICULATED, .law = laws[i], .sensors = true});
}

TEST(walkers_of_every_motion) {
    static const mf_Motion motions[] = {MF_MOTION_ARTICULATED, MF_MOTION_RIGID,
                                        MF_MOTION_PRESCRIBED, MF_MOTION_KINEMATIC};
    for (size_t i = 0; i < sizeof motions / sizeof *motions; i++)
        assert_flat(&(Case){.text = walker, .motion = motions[i]});
}

TEST(real_robots) {
    static const char *const paths[] = {"booster_t1/t1.xml", "robotiq_2f85/2f85.xml",
                                        "shadow_hand/right_hand.xml", "unitree_go2/go2.xml",
                                        "mujoco_models/humanoid.xml"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (int hard = 0; hard < 2; hard++)
            assert_flat(&(Case){.path = paths[i],
                                .motion = MF_MOTION_ARTICULATED,
                                .law = hard ? MF_CONTACT_LAW_HARD : MF_CONTACT_LAW_AS_MODEL,
                                .sensors = true});
}

TEST(real_walkers) {
    static const char *const paths[] = {"booster_t1/t1.xml", "mujoco_models/humanoid.xml"};
    static const mf_Motion motions[] = {MF_MOTION_RIGID, MF_MOTION_PRESCRIBED, MF_MOTION_KINEMATIC};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (size_t k = 0; k < sizeof motions / sizeof *motions; k++)
            assert_flat(&(Case){.path = paths[i], .motion = motions[k]});
}
