// Dry friction of joints near its limit: what is loaded with less than F stays, what is loaded with
// more moves by the rest, and what moves stops where v^2 / 2 a says. Slides, hinges, ball joints
// and tendons, every law, both precisions, alone and where couplings act as well.
#include "motion/articulated_rig.h"

typedef enum Kind { SLIDE, HINGE, BALL, TENDON, CHAIN, KINDS } Kind;
typedef enum Beside { ALONE, WITH_LOOP, WITH_CONTACT, BESIDES } Beside;

typedef struct Case {
    Kind kind;
    Beside beside;
    bool floats;
    mf_ContactLaw law;
    double load; // [1] of F
} Case;

// Mass 1 kg and inertia 1 kg m^2 about the joint; F = 5 acts on a load of 5 times `load`, which is
// an actuator's force.
static Rig open_case(const Case *c) {
    static const char *const joints[] = {
        "<joint name='j' type='slide' axis='1 0 0' frictionloss='5'/>",
        "<joint name='j' axis='0 0 1' frictionloss='5'/>",
        "<joint name='j' type='ball' frictionloss='5'/>",
        "<joint name='j' type='slide' axis='1 0 0'/>",
        "<joint name='j' type='slide' axis='1 0 0' frictionloss='5'/>"};
    static const char *const more[] = {
        "",
        ("<body pos='0 4 0'><joint name='k' type='slide' axis='1 0 0'/><geom size='.1' mass='1'/>"
         "</body><body pos='0 6 0'><joint name='l' type='slide' axis='1 0 0'/><geom size='.1' "
         "mass='1'/></body>"),
        ("<body pos='0 4 .09'><joint type='slide' axis='0 0 1'/><geom size='.1' mass='1'/></body>"
         "<geom type='box' size='1 1 .1' pos='0 4 -.1'/>")};
    const char *text = formatted(
        "<mujoco><option gravity='0 0 -9.81' timestep='.002'/><compiler angle='radian'/>"
        "<worldbody><body gravcomp='1'>%s<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
        "%s</body>%s</worldbody>%s%s<actuator>%s</actuator></mujoco>",
        joints[c->kind],
        c->kind == CHAIN ? "<body gravcomp='1'><joint type='slide' axis='0 1 0' "
                           "frictionloss='3'/><inertial pos='0 0 0' mass='1' "
                           "diaginertia='1 1 1'/></body>"
                         : "",
        more[c->beside],
        c->kind == TENDON ? "<tendon><fixed name='t' frictionloss='5'><joint joint='j' "
                            "coef='1'/></fixed></tendon>"
                          : "",
        c->beside == WITH_LOOP ? "<equality><joint joint1='k' joint2='l'/></equality>" : "",
        c->kind == BALL ? "<motor joint='j' gear='0 0 1'/>" : "<motor joint='j'/>");
    Rig t = text_open(text, WITH(art_config(MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND),
                                 .motion.contact_law = c->law, .motion.shapes = true,
                                 .group.double_precision = !c->floats));
    rig_set(&t, "actuator.control", 0, 5 * c->load);
    return t;
}

static double rate_of(const Rig *t, const Case *c) {
    return c->kind == BALL ? rig_get(t, "ball.rate", 2) : rig_get(t, "joint.rate", 0);
}

static void set_rate(const Rig *t, const Case *c, double rate) {
    rig_set(t, c->kind == BALL ? "ball.rate" : "joint.rate", c->kind == BALL ? 2 : 0, rate);
}

static void check(const Case *c) {
    const double inertia = c->kind == CHAIN ? 2 : 1, time = .2;
    // From rest.
    AUTO_RIG t = open_case(c);
    mf_world_step(t.world, 100);
    const double left = c->load > 1 ? 5 * (c->load - 1) / inertia * time : 0;
    if (!(fabs(rate_of(&t, c) - left) < (c->floats ? 2e-5 : 1e-8)))
        fail_msg("%s kind %d beside %d law %d, load %g: rate %g, exact %g",
                 c->floats ? "float" : "double", (int)c->kind, (int)c->beside, (int)c->law, c->load,
                 rate_of(&t, c), left);
    rig_close(&t);
    // Against the load: stops, and stays or comes back.
    t = open_case(c);
    const double brake = 5 * (c->load + 1) / inertia, speed = brake * .0809;
    set_rate(&t, c, -speed);
    mf_world_step(t.world, 100);
    const double back = c->load > 1 ? 5 * (c->load - 1) / inertia * (time - .0809) : 0;
    if (!(fabs(rate_of(&t, c) - back) < .003 * 5 * fmax(c->load - 1, 1e-4)))
        fail_msg("%s kind %d beside %d law %d, load %g: rate after a stop %g, exact %g",
                 c->floats ? "float" : "double", (int)c->kind, (int)c->beside, (int)c->law, c->load,
                 rate_of(&t, c), back);
}

TEST(joints_stick_and_slip) {
    static const double loads[] = {0, .5, .9, .99, .999, 1.001, 1.01, 1.1, 1.5, 2};
    static const mf_ContactLaw laws[] = {MF_CONTACT_LAW_COMPLIANT, MF_CONTACT_LAW_HARD};
    for (int kind = 0; kind < KINDS; kind++)
        for (int beside = 0; beside < BESIDES; beside++)
            for (int law = 0; law < 2; law++)
                for (int floats = 0; floats < 2; floats++)
                    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
                        check(&(Case){.kind = (Kind)kind,
                                      .beside = (Beside)beside,
                                      .floats = floats,
                                      .law = laws[law],
                                      .load = loads[i]});
}

// An arm of five hinges in gravity: friction of all of them never gives energy, and more of it than
// the arm's weight asks for holds it where it is.
TEST(an_arm_falls_and_holds) {
    for (int floats = 0; floats < 2; floats++)
        for (int law = 0; law < 2; law++)
            for (int holds = 0; holds < 2; holds++) {
                char text[4000] = "<mujoco><worldbody>", link[300];
                for (int i = 0; i < 5; i++) {
                    snprintf(link, sizeof link,
                             "<body pos='%g 0 %d'><joint axis='0 %d %d' frictionloss='%g'/>"
                             "<geom type='capsule' fromto='0 0 0 .2 0 0' size='.02' mass='1'/>",
                             i == 0 ? 0 : .2, i == 0 ? 2 : 0, i % 2 == 0, i % 2,
                             holds ? 26.0 - 4 * i : 1.0);
                    strcat(text, link);
                }
                strcat(text, "</body></body></body></body></body></worldbody></mujoco>");
                ArtConfig config = art_config(MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND);
                config.motion.contact_law = law ? MF_CONTACT_LAW_HARD : MF_CONTACT_LAW_COMPLIANT;
                config.group.double_precision = !floats;
                AUTO_RIG t = text_open(text, config);
                const double start = rig_energy(&t);
                double before = start;
                for (int i = 0; i < 500; i++) {
                    mf_world_step(t.world, 1);
                    const double now = rig_energy(&t);
                    if (!(now < before + (floats ? 1e-5 : 1e-6)))
                        fail_msg("step %d: energy %g after %g J", i, now, before);
                    before = now;
                }
                if (holds)
                    assert_near(before, start, 1e-6);
                else
                    assert_true(before < start - 1.0);
            }
}

// MuJoCo 4.0's rates after 0.2 s, in files that have its law: dry friction is a soft constraint
// there, and creeps.
TEST(files_of_mujoco_creep_as_mujoco_does) {
    static const double rates[][2] = {{.5, .002638889}, {.9, .00475},        {.99, .005225},
                                      {.999, .0052725}, {1.001, .006011084}, {1.01, .013702029},
                                      {1.5, .5}};
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
            Case c = {.kind = (Kind)kind, .law = MF_CONTACT_LAW_MUJOCO, .load = rates[i][0]};
            AUTO_RIG t = open_case(&c);
            mf_world_step(t.world, 100);
            assert_near(rate_of(&t, &c), rates[i][1] * (kind == CHAIN ? .5 : 1), 1e-9);
        }
}
