// A user-defined motion: a hovercraft. The base glides at a fixed height above the ground, driven
// and steered by the targets of two joints, with drag. Portable C, one robot after the other;
// docs/how_to/plugins.md explains it line by line.
#include <mayfly/plugin.h>

enum { POSITION, ORIENTATION, VELOCITY, SPIN, TARGET, ANGLE, COURSE, FIELDS };

static const mf_PluginField fields[FIELDS] = {
    {"base.position", "m", "world", MF_REAL, MF_PER_INSTANCE, 3, 0,
     MF_PLUGIN_READ | MF_PLUGIN_WRITE, "origin of the base"},
    {"base.orientation", "1", "world", MF_REAL, MF_PER_INSTANCE, 4, 0, MF_PLUGIN_WRITE,
     "base to world"},
    {"base.linear_velocity", "m/s", "world", MF_REAL, MF_PER_INSTANCE, 3, 0,
     MF_PLUGIN_READ | MF_PLUGIN_WRITE, "of the base's origin"},
    {"base.angular_velocity", "rad/s", "body", MF_REAL, MF_PER_INSTANCE, 3, 0,
     MF_PLUGIN_READ | MF_PLUGIN_WRITE, "of the base"},
    {"joint.target", "rad", "joint", MF_REAL, MF_PER_JOINT, 1, 0, MF_PLUGIN_READ,
     "the first one drives, the second one steers"},
    {"joint.angle", "rad", "joint", MF_REAL, MF_PER_JOINT, 1, 0, MF_PLUGIN_WRITE,
     "joints are where they are told to be"},
    {"hover.course", "rad", "world", MF_REAL, MF_PER_INSTANCE, 1, 0,
     MF_PLUGIN_READ | MF_PLUGIN_WRITE | MF_PLUGIN_OWN, "direction of the bow about z"},
};

static const mf_PluginSetting settings[] = {
    {"height", "m", "of the base above the ground", 0.2, 0.0, 10.0},
    {"thrust", "m/s^2", "forward, per radian of the first joint's target", 4.0, 0.0, 100.0},
    {"turn", "rad/s^2", "per radian of the second joint's target", 6.0, 0.0, 100.0},
    {"drag", "1/s", "share of the velocity lost per second", 1.0, 0.0, 100.0},
};

static int create(const mf_PluginSetup *setup, void **self, char *message, size_t message_size) {
    static const char reason[] = "expected a robot with two joints to drive and steer";
    (void)self;
    if (setup->model->joint_count >= 2)
        return 0;
    for (size_t i = 0; i < sizeof reason && i < message_size; i++)
        message[i] = reason[i];
    return 1;
}

static void move(const mf_PluginSetup *setup, const mf_PluginView *view, uint32_t lane) {
    const double *s = setup->settings, h = 1e-9 * (double)setup->step;
    double sine, cosine, keep = 1.0 - s[3] * h;
    double spin =
        keep * mf_plugin_get(view, SPIN, 2, lane) + h * s[2] * mf_plugin_get(view, TARGET, 1, lane);
    double course = mf_plugin_get(view, COURSE, 0, lane) + h * spin;
    double thrust = h * s[1] * mf_plugin_get(view, TARGET, 0, lane);
    setup->services->sin_cos(course, &sine, &cosine);
    double velocity[2] = {keep * mf_plugin_get(view, VELOCITY, 0, lane) + thrust * cosine,
                          keep * mf_plugin_get(view, VELOCITY, 1, lane) + thrust * sine};
    double x = mf_plugin_get(view, POSITION, 0, lane) + h * velocity[0];
    double y = mf_plugin_get(view, POSITION, 1, lane) + h * velocity[1];
    double z = setup->services->height(setup->terrain, x, y, NULL) + s[0];
    mf_plugin_set(view, VELOCITY, 2, lane, (z - mf_plugin_get(view, POSITION, 2, lane)) / h);
    setup->services->sin_cos(0.5 * course, &sine, &cosine);
    const double rotation[4] = {cosine, 0.0, 0.0, sine}, position[3] = {x, y, z};
    for (uint32_t c = 0; c < 4; c++)
        mf_plugin_set(view, ORIENTATION, c, lane, rotation[c]);
    for (uint32_t c = 0; c < 3; c++)
        mf_plugin_set(view, POSITION, c, lane, position[c]);
    for (uint32_t c = 0; c < 2; c++)
        mf_plugin_set(view, VELOCITY, c, lane, velocity[c]);
    mf_plugin_set(view, SPIN, 2, lane, spin);
    mf_plugin_set(view, COURSE, 0, lane, course);
    for (uint32_t j = 0; j < view->components[ANGLE]; j++)
        mf_plugin_set(view, ANGLE, j, lane, mf_plugin_get(view, TARGET, j, lane));
}

static void step(const mf_PluginSetup *setup, const void *self, const mf_PluginView *view) {
    (void)self;
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
        if (view->active[lane])
            move(setup, view, lane);
}

const mf_PluginEntry mf_plugin_entry = {MF_PLUGIN_HEAD,
                                        .kind = MF_PLUGIN_MOTION,
                                        .widths = MF_PLUGIN_FLOAT | MF_PLUGIN_DOUBLE,
                                        .field_count = FIELDS,
                                        .setting_count = 4,
                                        .name = "hover",
                                        .version = "1.0",
                                        .about =
                                            "a hovercraft: glides, driven by two joint targets",
                                        .fields = fields,
                                        .settings = settings,
                                        .create = create,
                                        .step = step};
