// Actuators: MuJoCo's shortcuts (motor, position, velocity, ...) are settings of the general one.
//     force = gain * (control or activation) + bias
//     gain, bias: a + b * length + c * velocity
// position: gain kp, bias -kp length - kv velocity; velocity: gain kv, bias -kv velocity; damper:
// gain -kv velocity; intvelocity: a position servo behind an integrator; cylinder: area times
// pressure behind a filter.
#include "import/mjcf_rows.h"

#include "math/scalar.h"

#include <math.h>
#include <string.h>

// The first four are mf_ActuatorDynamics, the first two those of gain and bias.
static const char *const dynamics_names[] = {"none",   "integrator", "filter", "filterexact",
                                             "muscle", "user",       NULL};
static const char *const gain_names[] = {"fixed", "affine", "muscle", "user", NULL};
static const char *const bias_names[] = {"none", "affine", "muscle", "user", NULL};

#define T mf_MjcfActuator
#define COMMON                                                                                     \
    TEXT("name", name), ELSEWHERE("class"), PASSED("user"), PLAIN(ACTUATOR), REFUSED("nsample"),   \
        PASSED("interp"), REFUSED("delay"), NUMBERS("lengthrange", 2, 2, length_range),            \
        NUMBERS("ctrlrange", 2, 2, control_range), NUMBERS("forcerange", 2, 2, force_range),       \
        CHOICE("ctrllimited", control_limited, mf_mjcf_tristate),                                  \
        CHOICE("forcelimited", force_limited, mf_mjcf_tristate),                                   \
        NUMBERS("damping", 1, 3, damping), TEXT("joint", joint),                                   \
        TEXT("jointinparent", joint_in_parent), TEXT("tendon", tendon), TEXT("site", site),        \
        TEXT("refsite", reference_site), REFUSED("slidersite cranksite"), REFUSED("cranklength")
#define ACTIVATION                                                                                 \
    CHOICE("actlimited", activation_limited, mf_mjcf_tristate),                                    \
        NUMBERS("actrange", 2, 2, activation_range)

static const mf_MjcfField general_fields[] = {COMMON,
                                              ACTIVATION,
                                              CHOICE("dyntype", law.dynamics, dynamics_names),
                                              CHOICE("gaintype", law.gain_kind, gain_names),
                                              CHOICE("biastype", law.bias_kind, bias_names),
                                              NUMBERS("dynprm", 1, 10, law.dynamics_values),
                                              NUMBERS("gainprm", 1, 10, law.gain),
                                              NUMBERS("biasprm", 1, 10, law.bias),
                                              FLAG("actearly", plain.early),
                                              PASSED("actdim"),
                                              TEXT("body", body),
                                              PASSED("input"), // what the control stands for
                                              REFUSED("velrange ffrange"),
                                              END};
static const mf_MjcfField motor_fields[] = {COMMON, END};
static const mf_MjcfField position_fields[] = {COMMON,
                                               ACTIVATION,
                                               NUMBERS("kp", 1, 1, kp),
                                               NUMBERS("kv", 1, 1, kv),
                                               NUMBERS("dampratio", 1, 1, damping_ratio),
                                               NUMBERS("timeconst", 1, 1, time_constant),
                                               NUMBERS("inheritrange", 1, 1, inherit_range),
                                               END};
static const mf_MjcfField velocity_fields[] = {COMMON, NUMBERS("kv", 1, 1, kv), END};
static const mf_MjcfField muscle_fields[] = {COMMON,
                                             ACTIVATION,
                                             NUMBERS("timeconst", 1, 2, muscle_times),
                                             NUMBERS("tausmooth", 1, 1, muscle_smoothing),
                                             NUMBERS("range", 1, 2, muscle_range),
                                             NUMBERS("force", 1, 1, muscle[0]),
                                             NUMBERS("scale", 1, 1, muscle[1]),
                                             NUMBERS("lmin", 1, 1, muscle[2]),
                                             NUMBERS("lmax", 1, 1, muscle[3]),
                                             NUMBERS("vmax", 1, 1, muscle[4]),
                                             NUMBERS("fpmax", 1, 1, muscle[5]),
                                             NUMBERS("fvmax", 1, 1, muscle[6]),
                                             END};
static const mf_MjcfField plugin_fields[] = {COMMON,
                                             ACTIVATION,
                                             CHOICE("dyntype", law.dynamics, dynamics_names),
                                             NUMBERS("dynprm", 1, 10, law.dynamics_values),
                                             PASSED("actearly actdim"),
                                             ELSEWHERE("plugin instance"),
                                             END};
static const mf_MjcfField adhesion_fields[] = {COMMON, TEXT("body", body),
                                               NUMBERS("gain", 1, 1, adhesion), END};
static const mf_MjcfField cylinder_fields[] = {COMMON,
                                               NUMBERS("timeconst", 1, 1, piston_time),
                                               NUMBERS("area", 1, 1, area),
                                               NUMBERS("diameter", 1, 1, diameter),
                                               NUMBERS("bias", 3, 3, cylinder_bias),
                                               END};

static void clear(double values[10]) {
    memset(values, 0, 10 * sizeof *values);
}

static mf_Status not_negative(const mf_Mjcf *m, const mf_XmlNode *node, const char *name,
                              double value) {
    if (!(value < 0.0)) // also when NaN (not given)
        return MF_OK;
    return mf_mjcf_fail(m, node, "<%.80s> %s: expected >= 0, found %g", node->name, name, value);
}

static mf_Status set_motor(mf_Mjcf *m, const mf_XmlNode *node, mf_MjcfActuator *a) {
    (void)m, (void)node;
    a->law.gain[0] = 1.0;
    return MF_OK;
}

static mf_Status set_position(mf_Mjcf *m, const mf_XmlNode *node, mf_MjcfActuator *a) {
    MF_TRY(not_negative(m, node, "kv", a->kv));
    MF_TRY(not_negative(m, node, "dampratio", a->damping_ratio));
    MF_TRY(not_negative(m, node, "timeconst", a->time_constant));
    if (mf_is_finite(a->kv) && mf_is_finite(a->damping_ratio))
        return mf_mjcf_fail(m, node, "<%.80s> has both kv and dampratio", node->name);
    if (a->inherit_range > 0.0 && (a->control_range[0] != 0.0 || a->control_range[1] != 0.0) &&
        mf_xml_attribute(node, "ctrlrange") != NULL)
        return mf_mjcf_fail(m, node, "<%.80s> has both ctrlrange and inheritrange", node->name);
    a->law.gain[0] = mf_is_finite(a->kp) ? a->kp : a->law.gain[0];
    a->law.bias[0] = 0.0;
    a->law.bias[1] = -a->law.gain[0];
    // A positive third number is a damping ratio until the inertia is known.
    if (mf_is_finite(a->kv))
        a->law.bias[2] = -a->kv;
    if (mf_is_finite(a->damping_ratio))
        a->law.bias[2] = a->damping_ratio;
    if (mf_is_finite(a->time_constant)) {
        a->law.dynamics_values[0] = a->time_constant;
        a->law.dynamics = a->time_constant == 0.0 ? MF_DYNAMICS_NONE : MF_DYNAMICS_FILTER_EXACT;
    } else if (a->law.dynamics != MF_DYNAMICS_FILTER_EXACT) {
        a->law.dynamics = MF_DYNAMICS_NONE;
    }
    return MF_OK;
}

static mf_Status set_velocity(mf_Mjcf *m, const mf_XmlNode *node, mf_MjcfActuator *a) {
    (void)m, (void)node;
    a->law.gain[0] = mf_is_finite(a->kv) ? a->kv : a->law.gain[0];
    clear(a->law.bias);
    a->law.bias[2] = -a->law.gain[0];
    return MF_OK;
}

static mf_Status set_damper(mf_Mjcf *m, const mf_XmlNode *node, mf_MjcfActuator *a) {
    double inherited = a->law.gain_kind == MF_MJCF_GAIN_AFFINE ? -a->law.gain[2] : 0.0;
    double kv = mf_is_finite(a->kv) ? a->kv : inherited;
    MF_TRY(not_negative(m, node, "kv", kv));
    if (a->control_range[0] < 0.0 || a->control_range[1] < 0.0)
        return mf_mjcf_fail(m, node, "<damper> ctrlrange: expected numbers >= 0");
    clear(a->law.gain);
    a->law.gain[2] = -kv;
    a->control_limited = MF_MJCF_TRUE;
    return MF_OK;
}

// It only pulls: gain and control are >= 0.
static mf_Status set_adhesion(mf_Mjcf *m, const mf_XmlNode *node, mf_MjcfActuator *a) {
    a->law.gain[0] = mf_is_finite(a->adhesion) ? a->adhesion : a->law.gain[0];
    a->control_limited = MF_MJCF_TRUE;
    if (a->control_range[0] < 0.0 || a->control_range[1] < 0.0)
        return mf_mjcf_fail(m, node, "<adhesion> ctrlrange: expected numbers >= 0");
    return not_negative(m, node, "gain", a->law.gain[0]);
}

static mf_Status set_cylinder(mf_Mjcf *m, const mf_XmlNode *node, mf_MjcfActuator *a) {
    (void)m, (void)node;
    if (mf_is_finite(a->piston_time))
        a->law.dynamics_values[0] = a->piston_time;
    for (int i = 0; i < 3; i++)
        a->law.bias[i] = mf_is_finite(a->cylinder_bias[i]) ? a->cylinder_bias[i] : a->law.bias[i];
    if (mf_is_finite(a->area))
        a->law.gain[0] = a->area;
    if (a->diameter >= 0.0)
        a->law.gain[0] = MF_PI / 4.0 * a->diameter * a->diameter;
    return MF_OK;
}

// Stores the element's attributes in the general parameters: range, force, scale, lmin, lmax, vmax,
// fpmax, fvmax of gain and bias, and the time constants of the activation. If the class's element
// was not a muscle, starts from MuJoCo's defaults.
static mf_Status set_muscle(mf_Mjcf *m, const mf_XmlNode *node, mf_MjcfActuator *a) {
    static const double usual[9] = {0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2};
    (void)m, (void)node;
    if (a->law.gain_kind != MF_MJCF_GAIN_MUSCLE) {
        clear(a->law.gain);
        memcpy(a->law.gain, usual, sizeof usual);
        clear(a->law.dynamics_values);
        a->law.dynamics_values[0] = 0.01;
        a->law.dynamics_values[1] = 0.04;
    }
    for (int i = 0; i < 2; i++) {
        a->law.gain[i] = mf_is_finite(a->muscle_range[i]) ? a->muscle_range[i] : a->law.gain[i];
        if (mf_is_finite(a->muscle_times[i]))
            a->law.dynamics_values[i] = a->muscle_times[i];
    }
    for (int i = 0; i < 7; i++)
        a->law.gain[2 + i] = mf_is_finite(a->muscle[i]) ? a->muscle[i] : a->law.gain[2 + i];
    if (mf_is_finite(a->muscle_smoothing))
        a->law.dynamics_values[2] = a->muscle_smoothing;
    memcpy(a->law.bias, a->law.gain, sizeof a->law.bias);
    return MF_OK;
}

// What the element sets, and the kinds of its law; KEPT: as in its class.
enum { KEPT = -1 };
// clang-format off
static const struct {
    const char *name;
    const mf_MjcfField *fields;
    mf_Status (*set)(mf_Mjcf *m, const mf_XmlNode *node, mf_MjcfActuator *a);
    int32_t dynamics, gain, bias;
} kinds[MF_MJCF_ACTUATOR_KINDS] = {
    {"general", general_fields, NULL, KEPT, KEPT, KEPT},
    {"motor", motor_fields, set_motor, MF_DYNAMICS_NONE, MF_MJCF_GAIN_FIXED, MF_MJCF_BIAS_NONE},
    {"position", position_fields, set_position, KEPT, MF_MJCF_GAIN_FIXED, MF_MJCF_BIAS_AFFINE},
    {"intvelocity", position_fields, set_position, MF_DYNAMICS_INTEGRATOR, MF_MJCF_GAIN_FIXED,
     MF_MJCF_BIAS_AFFINE},
    {"velocity", velocity_fields, set_velocity, MF_DYNAMICS_NONE, MF_MJCF_GAIN_FIXED,
     MF_MJCF_BIAS_AFFINE},
    {"damper", velocity_fields, set_damper, MF_DYNAMICS_NONE, MF_MJCF_GAIN_AFFINE,
     MF_MJCF_BIAS_NONE},
    {"cylinder", cylinder_fields, set_cylinder, MF_DYNAMICS_FILTER, MF_MJCF_GAIN_FIXED,
     MF_MJCF_BIAS_AFFINE},
    {"plugin", plugin_fields, mf_mjcf_set_pid, KEPT, MF_MJCF_GAIN_FIXED, MF_MJCF_BIAS_AFFINE},
    {"muscle", muscle_fields, set_muscle, MF_DYNAMICS_MUSCLE, MF_MJCF_GAIN_MUSCLE,
     MF_MJCF_BIAS_MUSCLE},
    {"adhesion", adhesion_fields, set_adhesion, KEPT, MF_MJCF_GAIN_FIXED, MF_MJCF_BIAS_NONE}};
// clang-format on

bool mf_mjcf_is_actuator(const char *element) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(element, kinds[i].name) == 0)
            return true;
    }
    return false;
}

// An element inherits the law of the nearest class in which the last element was of its kind or
// general; a general one inherits any.
static const mf_MjcfLaw *law_for(const mf_MjcfClass *class, uint32_t kind) {
    const uint32_t last = class->actuator.kind;
    const bool own = last == kind || last == MF_MJCF_GENERAL || kind == MF_MJCF_GENERAL;
    return own ? &class->actuator.law : &class->laws[kind];
}

void mf_mjcf_inherit_laws(const mf_MjcfClass *parent, mf_MjcfLaw laws[MF_MJCF_ACTUATOR_KINDS]) {
    for (uint32_t kind = 0; kind < MF_MJCF_ACTUATOR_KINDS; kind++)
        laws[kind] = *law_for(parent, kind);
}

mf_Status mf_mjcf_read_actuator(mf_Mjcf *m, const mf_XmlNode *node, const mf_MjcfClass *class,
                                mf_MjcfActuator *a) {
    double none = (double)NAN;
    uint32_t kind = 0;
    while (strcmp(node->name, kinds[kind].name) != 0)
        kind++;
    const mf_MjcfLaw law = *law_for(class, kind);
    *a = class->actuator;
    a->node = node;
    a->law = law;
    a->kind = kind;
    a->name = NULL;
    a->plugin = false;
    a->integral_gain = a->slew_limit = 0.0;
    // Attributes of a shortcut are converted to the general settings and are not inherited.
    a->kp = a->kv = a->damping_ratio = a->time_constant = a->piston_time = none;
    a->area = a->diameter = a->adhesion = none;
    mf_vec3_set(a->cylinder_bias, none, none, none);
    a->muscle_smoothing = a->muscle_range[0] = a->muscle_range[1] = none;
    a->muscle_times[0] = a->muscle_times[1] = none;
    for (int i = 0; i < 7; i++)
        a->muscle[i] = none;
    MF_TRY(mf_mjcf_read(m, node, kinds[kind].fields, a));
    if (kinds[kind].set != NULL)
        MF_TRY(kinds[kind].set(m, node, a));
    const int32_t to[3] = {kinds[kind].dynamics, kinds[kind].gain, kinds[kind].bias};
    int32_t *kind_of[3] = {&a->law.dynamics, &a->law.gain_kind, &a->law.bias_kind};
    for (int i = 0; i < 3; i++)
        *kind_of[i] = to[i] != KEPT ? to[i] : *kind_of[i];
    return MF_OK;
}

// ---- one actuator ------------------------------------------------------------------------------

static mf_Status find_joint(mf_Mjcf *m, const mf_MjcfActuator *from, mf_Actuator *to) {
    bool in_parent = from->joint_in_parent != NULL;
    const char *attribute = in_parent ? "jointinparent" : "joint";
    uint32_t joint;
    MF_TRY(mf_mjcf_find(m, from->node, attribute, in_parent ? from->joint_in_parent : from->joint,
                        &m->joint_names, "joint", &joint));
    if (joint == MF_NONE)
        return MF_OK;
    to->drive = in_parent ? MF_DRIVE_JOINT_IN_PARENT : MF_DRIVE_JOINT;
    to->joint = mf_mjcf_joints(m)[joint].draft;
    // A free base has no named joint; a site in it can be driven instead.
    return to->joint == MF_NONE ? mf_mjcf_refuse(m, from->node, "joint (a free one)") : MF_OK;
}

static mf_Status find_sites(mf_Mjcf *m, const mf_MjcfActuator *from, mf_Actuator *to) {
    const mf_MjcfSite *site;
    MF_TRY(mf_mjcf_find_site(m, from->node, "site", from->site, &site, &to->frame));
    if (site == NULL)
        return MF_OK;
    to->drive = MF_DRIVE_SITE;
    to->site = site->draft;
    if (from->reference_site == NULL)
        return MF_OK;
    MF_TRY(
        mf_mjcf_find_site(m, from->node, "refsite", from->reference_site, &site, &to->reference));
    if (site != NULL)
        to->reference_site = site->draft;
    return MF_OK;
}

// Adhesion. A body of the world would also attract what touches it, but is not a body of the model.
static mf_Status find_body(mf_Mjcf *m, const mf_MjcfActuator *from, mf_Actuator *to) {
    uint32_t body;
    MF_TRY(mf_mjcf_find(m, from->node, "body", from->body, &m->body_names, "body", &body));
    if (body == MF_NONE)
        return MF_OK;
    to->drive = MF_DRIVE_BODY;
    to->body = mf_mjcf_draft_body(body);
    return to->body == MF_NONE ? mf_mjcf_refuse(m, from->node, "body (the world)") : MF_OK;
}

// Its transmission target; none if that was dropped.
static mf_Status find_target(mf_Mjcf *m, const mf_MjcfActuator *from, mf_Actuator *to) {
    int targets = (from->joint || from->joint_in_parent) + (from->tendon != NULL) +
                  (from->site != NULL) + (from->body != NULL);
    if (targets == 0 && mf_xml_attribute(from->node, "cranksite"))
        return MF_OK; // already rejected
    if (targets != 1)
        return mf_mjcf_fail(m, from->node,
                            "<%.80s>: expected one of joint, jointinparent, tendon, "
                            "site, body, found %d",
                            from->node->name, targets);
    if (from->joint || from->joint_in_parent)
        return find_joint(m, from, to);
    if (from->site)
        return find_sites(m, from, to);
    if (from->body)
        return find_body(m, from, to);
    to->drive = MF_DRIVE_TENDON;
    return mf_mjcf_find(m, from->node, "tendon", from->tendon, &m->tendon_names, "tendon",
                        &to->tendon);
}

// The control's (or activation's) range from the range of its target.
static mf_Status inherit_range(mf_Mjcf *m, mf_MjcfActuator *from, const mf_Actuator *to) {
    double lower, upper;
    bool servo = from->law.gain_kind == MF_MJCF_GAIN_FIXED &&
                 from->law.bias_kind == MF_MJCF_BIAS_AFFINE &&
                 from->law.gain[0] == -from->law.bias[1];
    if (!(from->inherit_range > 0.0) || !servo)
        return MF_OK;
    if (to->drive == MF_DRIVE_JOINT) {
        lower = mf_draft_joints(&m->draft)[to->joint].lower;
        upper = mf_draft_joints(&m->draft)[to->joint].upper;
    } else if (to->drive == MF_DRIVE_TENDON) {
        const mf_Tendon *tendon = mf_draft_tendons(&m->draft) + to->tendon;
        lower = tendon->lower;
        upper = tendon->upper;
    } else {
        return mf_mjcf_fail(m, from->node, "<%.80s> inheritrange: only from a joint or tendon",
                            from->node->name);
    }
    if (!mf_is_finite(lower) || !mf_is_finite(upper))
        return mf_mjcf_fail(m, from->node, "<%.80s> inheritrange: its joint or tendon has no range",
                            from->node->name);
    double *range =
        from->law.dynamics == MF_DYNAMICS_INTEGRATOR ? from->activation_range : from->control_range;
    double mean = 0.5 * (upper + lower), radius = 0.5 * (upper - lower) * from->inherit_range;
    range[0] = mean - radius;
    range[1] = mean + radius;
    return MF_OK;
}

static mf_Status fill_ranges(mf_Mjcf *m, const mf_MjcfActuator *from, mf_Actuator *to) {
    struct {
        const char *what;
        int32_t limited;
        const double *range;
        double *lower, *upper;
    } ranges[] = {
        {"ctrl", from->control_limited, from->control_range, &to->control_lower,
         &to->control_upper},
        {"force", from->force_limited, from->force_range, &to->force_lower, &to->force_upper},
        {"act", from->activation_limited, from->activation_range, &to->activation_lower,
         &to->activation_upper}};
    for (int i = 0; i < 3; i++) {
        bool limited;
        MF_TRY(mf_mjcf_limited(m, from->node, ranges[i].what, ranges[i].limited, ranges[i].range,
                               &limited));
        *ranges[i].lower = limited ? ranges[i].range[0] : -(double)INFINITY;
        *ranges[i].upper = limited ? ranges[i].range[1] : (double)INFINITY;
    }
    if (to->dynamics == MF_DYNAMICS_ERROR) {
        to->activation_upper = from->integral_limit / mf_abs(to->integral_gain);
        to->activation_lower = -to->activation_upper;
    }
    if (to->dynamics == MF_DYNAMICS_NONE && mf_is_finite(to->activation_lower))
        return mf_mjcf_fail(m, from->node, "<%.80s> actrange: it has no activation",
                            from->node->name);
    return MF_OK;
}

// The file's settings of the search for unspecified lengths of muscles (done by `articulated`);
// NULL: none.
static const mf_XmlNode *length_search(const mf_Mjcf *m) {
    const mf_XmlNode *found = NULL;
    MF_XML_EACH (node, m->xml.root, "compiler") {
        const mf_XmlNode *own = mf_xml_child(node, "lengthrange");
        found = own != NULL && own->attribute_count > 0 ? own : found;
    }
    return found;
}

// Gain and bias of a muscle have the same parameters.
static mf_Status fill_muscle(mf_Mjcf *m, const mf_MjcfActuator *from, mf_Actuator *to,
                             bool *refused) {
    const double *p = from->law.gain;
    *refused = from->law.gain_kind != MF_MJCF_GAIN_MUSCLE ||
               from->law.bias_kind != MF_MJCF_BIAS_MUSCLE ||
               memcmp(from->law.gain, from->law.bias, 9 * sizeof *p) != 0 ||
               to->drive == MF_DRIVE_SITE || to->drive == MF_DRIVE_BODY;
    if (*refused)
        return mf_mjcf_refuse(m, from->node, "with a muscle's gain or bias alone");
    mf_Muscle *muscle = &to->muscle;
    *muscle = (mf_Muscle){.exists = true,
                          .length_range = {from->length_range[0], from->length_range[1]},
                          .range = {p[0], p[1]},
                          .force = p[2],
                          .scale = p[3],
                          .lower = p[4],
                          .upper = p[5],
                          .speed = p[6],
                          .passive = p[7],
                          .lengthening = p[8]};
    if (from->law.dynamics == MF_DYNAMICS_MUSCLE) {
        muscle->rise = from->law.dynamics_values[0];
        muscle->fall = from->law.dynamics_values[1];
        muscle->smoothing = from->law.dynamics_values[2];
    }
    if (!(p[0] < p[1]) || !(p[4] < 1.0) || !(p[5] > 1.0) || !(p[8] >= 1.0) ||
        !(muscle->rise >= 0.0) || !(muscle->fall >= 0.0) || !(muscle->smoothing >= 0.0))
        return mf_mjcf_fail(m, from->node,
                            "<%.80s> of a muscle: expected range[0] < range[1], lmin < 1 < lmax, "
                            "fvmax >= 1 and times >= 0",
                            from->node->name);
    const mf_XmlNode *search = length_search(m);
    if (search != NULL && !(from->length_range[0] < from->length_range[1]))
        return mf_mjcf_refuse(m, search, NULL);
    return MF_OK;
}

// The integral of a controller's error, if the target has one length.
static mf_Status fill_integral(mf_Mjcf *m, const mf_MjcfActuator *from, mf_Actuator *to) {
    const mf_JointType type =
        to->joint != MF_NONE ? mf_draft_joints(&m->draft)[to->joint].type : MF_JOINT_FIXED;
    if (!(from->integral_gain < 0.0) && !(from->integral_gain > 0.0))
        return MF_OK;
    if (to->drive != MF_DRIVE_TENDON && type != MF_JOINT_HINGE && type != MF_JOINT_SLIDE)
        return mf_mjcf_refuse(m, from->node, "ki on what is neither hinge, slide nor tendon");
    to->dynamics = MF_DYNAMICS_ERROR;
    to->integral_gain = from->integral_gain;
    return MF_OK;
}

static mf_Status fill_law(mf_Mjcf *m, const mf_MjcfActuator *from, mf_Actuator *to, bool *refused) {
    const bool muscle =
        from->law.gain_kind == MF_MJCF_GAIN_MUSCLE || from->law.bias_kind == MF_MJCF_BIAS_MUSCLE;
    *refused = from->law.dynamics > MF_DYNAMICS_MUSCLE ||
               from->law.gain_kind > MF_MJCF_GAIN_MUSCLE ||
               from->law.bias_kind > MF_MJCF_BIAS_MUSCLE ||
               (from->law.dynamics == MF_DYNAMICS_MUSCLE && !muscle);
    if (*refused)
        return mf_mjcf_refuse(m, from->node, "of type user, or a muscle's activation alone");
    to->dynamics = (mf_ActuatorDynamics)from->law.dynamics;
    if (from->law.dynamics == MF_DYNAMICS_FILTER || from->law.dynamics == MF_DYNAMICS_FILTER_EXACT)
        to->time_constant = from->law.dynamics_values[0];
    if (muscle) {
        MF_TRY(fill_muscle(m, from, to, refused));
        return *refused ? MF_OK
                        : mf_mjcf_stiffness(m, from->node, "damping", from->damping, &to->damping);
    }
    if (!(to->time_constant >= 0.0))
        return mf_mjcf_fail(m, from->node, "<%.80s>: the time constant must be >= 0, found %g",
                            from->node->name, to->time_constant);
    uint32_t gains = from->law.gain_kind == MF_MJCF_GAIN_FIXED ? 1 : 3;
    memcpy(to->gain, from->law.gain, gains * sizeof *to->gain);
    if (from->law.bias_kind == MF_MJCF_BIAS_AFFINE)
        memcpy(to->bias, from->law.bias, 3 * sizeof *to->bias);
    to->explicit_rate = from->plugin;
    to->slew_limit = from->slew_limit;
    MF_TRY(fill_integral(m, from, to));
    return mf_mjcf_stiffness(m, from->node, "damping", from->damping, &to->damping);
}

static mf_Status add_actuator(mf_Mjcf *m, mf_MjcfActuator *from, uint32_t *slot) {
    mf_Actuator to = from->plain;
    bool refused = false;
    if (from->plugin && !from->known)
        return mf_mjcf_dropped(m, "actuator", from->name);
    MF_TRY(find_target(m, from, &to));
    if (to.joint == MF_NONE && to.tendon == MF_NONE && to.site == MF_NONE && to.body == MF_NONE)
        return mf_mjcf_dropped(m, "actuator", from->name);
    MF_TRY(fill_law(m, from, &to, &refused));
    if (refused)
        return mf_mjcf_dropped(m, "actuator", from->name);
    MF_TRY(inherit_range(m, from, &to));
    MF_TRY(fill_ranges(m, from, &to));
    to.name = from->name;
    *slot = m->draft.actuators.count;
    return mf_mjcf_add(m, from->node, MF_ITEM_ACTUATOR, &to, &m->actuator_names);
}

static mf_Status read_one(mf_Mjcf *m, const mf_XmlNode *node) {
    const mf_MjcfClass *class;
    mf_MjcfActuator actuator;
    uint32_t *slot = mf_list_push(m->context, &m->actuators, sizeof *slot);
    if (slot == NULL)
        return mf_mjcf_no_memory(m);
    *slot = MF_NONE;
    if (!mf_mjcf_is_actuator(node->name)) {
        MF_TRY(mf_mjcf_refuse(m, node, NULL));
        return mf_mjcf_dropped(m, "actuator", mf_xml_attribute(node, "name"));
    }
    MF_TRY(mf_mjcf_class(m, node, "class", NULL, &class));
    MF_TRY(mf_mjcf_read_actuator(m, node, class, &actuator));
    return add_actuator(m, &actuator, slot);
}

mf_Status mf_mjcf_read_actuators(mf_Mjcf *m) {
    return mf_mjcf_read_section(m, "actuator", read_one);
}
