// Robots given as text and by all that files say of contacts, actuators, loops and fluids are
// independent of each other (batch.h).
#include "motion/batch.h"

// A cup that a motor holds against the weight of both, and a ball under it.
static const char cup[] =
    "<mujoco><option timestep='0.001' cone='elliptic'/><worldbody><body name='lift' pos='0 0 1'>"
    "<joint name='z' type='slide' axis='0 0 1' damping='20'/><geom size='.1' mass='1'/></body>"
    "<body name='load' pos='.005 0 .801'><freejoint/><geom size='.1' mass='.5'/></body></worldbody>"
    "<actuator><motor joint='z'/><adhesion body='lift' gain='40' ctrlrange='0 1'/>"
    "</actuator></mujoco>";

// Arms that hit each other, the trunk, a post and the ground. The loose block makes compliant
// contacts remember their forces too (warm_start.h).
static const char brawl[] =
    "<mujoco><worldbody><geom type='plane' size='1 1 1'/>"
    "<geom type='cylinder' size='0.1 0.5' pos='0.4 0 0.5'/>"
    "<body pos='0 0 0.5'><freejoint/><geom type='box' size='0.1 0.1 0.1' condim='6' "
    "friction='1 0.01 0.01'/>"
    "<body pos='0.15 0 0.1'><joint axis='0 1 0'/><geom type='capsule' size='0.04' "
    "fromto='0.05 0 0 0.2 0 0' condim='4'/><body pos='0.25 0 0'><joint type='ball'/>"
    "<geom type='capsule' size='0.04' fromto='0.05 0 0 0.2 0 0'/></body></body>"
    "<body pos='0 0.15 0'><joint axis='1 0 1'/><geom type='capsule' size='0.04' "
    "fromto='0 0.05 0 0 0.2 0'/><body pos='0 0.25 0'><joint axis='1 0 0'/>"
    "<geom type='ellipsoid' size='0.04 0.1 0.05' pos='0 0.15 0'/></body></body>"
    "<body pos='-0.15 0 0'><joint axis='0 1 0'/><geom type='sphere' size='0.05' pos='-0.1 0 0'/>"
    "</body></body>"
    "<body pos='0.1 0.1 0.8'><freejoint/><geom type='box' size='0.08 0.06 0.05'/></body>"
    "</worldbody></mujoco>";

// A chain that is closed and hung at both ends with float lanes: alone and in a batch, on every
// instruction set, the same bits.
static const char closed[] =
    "<mujoco><worldbody><body name='a' pos='0 0 1'><freejoint/><geom size='0.05'/>"
    "<body pos='0.2 0 0'><joint axis='0 1 0'/><geom size='0.05'/>"
    "<body pos='0.2 0 0'><joint type='ball'/><geom size='0.05'/>"
    "<body name='b' pos='0 0 0.2'><joint axis='0 1 0.3' name='j'/><geom size='0.05'/></body>"
    "</body></body></body></worldbody>"
    "<equality><connect body1='a' body2='b' anchor='0.2 0 0.2'/></equality>"
    "<tendon><fixed limited='true' range='-0.2 0.2' stiffness='2' frictionloss='0.1'>"
    "<joint joint='j' coef='1'/></fixed></tendon></mujoco>";

// A body on legs with friction that touch the ground, each other in some robots, and come to rest:
// some robots have contacts in a step, and others next to them stick without any.
static const char legs[] =
    "<mujoco><worldbody><geom type='plane' size='9 9 1'/><body pos='0 0 .4'><freejoint/>"
    "<geom type='box' size='.1 .1 .03' mass='1'/><body pos='.08 0 0'><joint axis='0 1 0' "
    "frictionloss='.3'/><geom type='capsule' fromto='0 0 0 .05 0 -.3' size='.02' mass='.2'/>"
    "</body><body pos='-.08 0 0'><joint axis='0 1 0' frictionloss='.2'/><geom type='capsule' "
    "fromto='0 0 0 -.05 0 -.3' size='.02' mass='.2'/></body><body pos='0 .08 0'><joint "
    "type='ball' frictionloss='.1'/><geom type='capsule' fromto='0 0 0 0 .05 -.3' size='.02' "
    "mass='.2'/></body></body></worldbody></mujoco>";

static const char fish[] =
    "<mujoco><option density='1000' viscosity='0.5' wind='0.3 0.1 0'/><worldbody>"
    "<body pos='0 0 2'><freejoint/><geom type='capsule' fromto='0 0 0 .3 0 0' size='.06'/>"
    "<body pos='-.05 0 0'><joint axis='0 0 1' stiffness='2' damping='.05'/>"
    "<geom type='capsule' fromto='0 0 0 -.25 0 0' size='.04' fluidshape='ellipsoid'/>"
    "<body pos='-.3 0 0'><joint type='ball' damping='.02'/>"
    "<geom type='box' pos='-.1 0 0' size='.1 .01 .08'/></body></body></body></worldbody></mujoco>";

// A walker with limits, soft contacts with all kinds of friction, and margins, on a field.
static const char walker[] =
    "<mujoco><option timestep='0.005'/><compiler angle='radian'/><asset><hfield name='h' nrow='3' "
    "ncol='5' size='2 1 .3 .1' elevation='0 1 2 1 0 1 2 3 2 1 0 1 0 1 2'/></asset>"
    "<default><geom condim='6' friction='.8 .01 .002'/></default><worldbody><geom type='hfield' "
    "hfield='h' solref='.03 .7'/><body pos='0 0 1'><freejoint/><geom type='box' size='.2 .1 .05' "
    "margin='.002'/><body pos='.2 .1 0'><joint axis='0 1 0' range='-.5 .3'/><geom type='capsule' "
    "size='.03' fromto='0 0 0 0 0 -.25' solref='-3000 -20' condim='4'/></body><body "
    "pos='-.2 -.1 0'><joint type='ball' range='0 .6'/><geom type='sphere' size='.05' "
    "pos='0 0 -.2'/></body></body></worldbody></mujoco>";

typedef struct Robot {
    const char *text; // NULL: the file has it
    const char *file;
    uint32_t step; // [ms]
    mf_ContactLaw law;
    double spread;               // [m], [m/s] of where it starts; 0: as in the text
    double angle, rate, control; // most of those that it starts with
    double lift;                 // control of the first actuator
    bool apart;                  // without contacts of its own links
} Robot;

static const Robot robots[] = {
    {NULL, "actuators.xml", 1, MF_CONTACT_LAW_COMPLIANT, .control = 0.6, .apart = true},
    {NULL, "tendons.xml", 1, MF_CONTACT_LAW_COMPLIANT, .angle = 1.0, .rate = 3.0, .control = 0.5},
    {cup, NULL, 1, MF_CONTACT_LAW_MUJOCO, .control = 0.9, .lift = 15.0},
    {brawl, NULL, 5, MF_CONTACT_LAW_COMPLIANT, .rate = 11.0},
    {brawl, NULL, 5, MF_CONTACT_LAW_HARD, .rate = 11.0},
    {closed, NULL, 5, MF_CONTACT_LAW_COMPLIANT, .rate = 1.5},
    {legs, NULL, 2, MF_CONTACT_LAW_COMPLIANT, .rate = 5.0},
    {legs, NULL, 2, MF_CONTACT_LAW_HARD, .rate = 5.0},
    {fish, NULL, 2, MF_CONTACT_LAW_COMPLIANT, .rate = 4.0},
    {walker, NULL, 5, MF_CONTACT_LAW_AS_MODEL, .spread = 0.5, .rate = 4.0},
};

static mf_Status open(Batch *batch, mf_Error *error) {
    const Robot *robot = &robots[batch->option / 2];
    mf_ArticulatedConfig *config = &batch->motions.articulated;
    mf_Context *context = batch->rig.context;
    batch->world.step = robot->step * MF_MILLISECOND;
    batch->group.double_precision = batch->option % 2 == 1;
    batch->motion = MF_MOTION_ARTICULATED;
    config->contact_law = robot->law;
    config->shapes = true;
    config->self_contacts = !robot->apart;
    if (robot->text != NULL)
        MF_TRY(try_text(context, robot->text, &batch->rig.model, error));
    else
        MF_TRY(mf_model_load(context,
                             formatted("%s/tests/motion/%s", MAYFLY_SOURCE_DIR, robot->file), NULL,
                             &batch->rig.model, error));
    if (robot->text == walker)
        MF_TRY(mf_terrain_from_model(context, batch->rig.model, &batch->rig.terrain, error));
    return batch_add(batch, error);
}

static void place(const Batch *batch, uint32_t lane, uint32_t number) {
    const Robot *robot = &robots[batch->option / 2];
    mf_Group *group = batch->rig.group;
    const struct {
        const char *field;
        double size;
    } starts[] = {{"base.position", robot->spread},
                  {"base.linear_velocity", robot->spread},
                  {"base.angular_velocity", robot->rate},
                  {"joint.angle", robot->angle},
                  {"joint.rate", robot->rate},
                  {"ball.rate", robot->rate},
                  {"actuator.control", robot->control}};
    for (uint32_t f = 0; f < sizeof starts / sizeof *starts; f++) {
        mf_Field *field = mf_group_find_field(group, starts[f].field);
        for (uint32_t c = 0; field != NULL && starts[f].size > 0.0 && c < field->components; c++)
            mf_field_set(field, lane, c,
                         mf_field_get(field, lane, c) +
                             starts[f].size * random_signed(700 + f, number * 64 + c));
    }
    if (robot->lift > 0.0)
        set_field(group, "actuator.control", lane, 0, robot->lift);
}

// A robot that is not finite keeps its fault to itself.
static const BatchPoison poisons[] = {{"joint.angle", 0, 1e300, UINT32_MAX}};

static const BatchKind batch_kind = {.options = 2 * sizeof robots / sizeof *robots,
                                     .robots = 20,
                                     .steps = 120,
                                     .many = 20,
                                     .open = open,
                                     .place = place,
                                     .made = 1 << 7 | 1 << 18,
                                     .poisoned = 1 << 11,
                                     .poisons = poisons,
                                     .poison_count = 1};
