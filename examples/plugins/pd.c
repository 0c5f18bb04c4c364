// A PD controller of all joints by their targets: each tick the target is the present angle plus
// gain times what is missing to the reference, minus damping times the rate. The reference falls
// from joint to joint. docs/how_to/scripts.md has the same controller as a script, and
// tests/script/test_same_bits.c shows that both, and a program at a socket, give the same bits.
#include <mayfly/plugin.h>

enum { ANGLE, RATE, TARGET, FIELDS };
enum { REFERENCE, GAIN, DAMPING };

static const mf_PluginField fields[FIELDS] = {
    {"joint.angle", "rad", "joint", MF_REAL, MF_PER_JOINT, 1, 0, MF_PLUGIN_READ, "joint positions"},
    {"joint.rate", "rad/s", "joint", MF_REAL, MF_PER_JOINT, 1, 0, MF_PLUGIN_READ, "joint rates"},
    {"joint.target", "rad", "joint", MF_REAL, MF_PER_JOINT, 1, 0, MF_PLUGIN_WRITE,
     "where the joints are driven to"},
};

static const mf_PluginSetting settings[] = {
    {"reference", "rad", "of the first joint; the second one has half of it, and so on", 0.4, -3.0,
     3.0},
    {"gain", "1", "share of the missing angle", 0.5, 0.0, 10.0},
    {"damping", "s", "answer per rad/s", 0.02, 0.0, 1.0},
};

static void step(const mf_PluginSetup *setup, const void *self, const mf_PluginView *view) {
    const double *s = setup->settings;
    (void)self;
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
        for (uint32_t j = 0; view->active[lane] && j < view->components[TARGET]; j++) {
            const double angle = mf_plugin_get(view, ANGLE, j, lane);
            const double rate = mf_plugin_get(view, RATE, j, lane);
            const double missing = s[REFERENCE] / (1.0 + j) - angle;
            mf_plugin_set(view, TARGET, j, lane, angle + s[GAIN] * missing - s[DAMPING] * rate);
        }
}

const mf_PluginEntry mf_plugin_entry = {MF_PLUGIN_HEAD,
                                        .kind = MF_PLUGIN_CONTROL,
                                        .widths = MF_PLUGIN_FLOAT | MF_PLUGIN_DOUBLE,
                                        .field_count = FIELDS,
                                        .setting_count = 3,
                                        .name = "pd",
                                        .version = "1.0",
                                        .about = "drives all joints to references by PD control",
                                        .fields = fields,
                                        .settings = settings,
                                        .step = step};
