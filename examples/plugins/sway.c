// A user-defined controller, called in every step: the robot stands, sways slowly, and counteracts
// tilt. All its state is in a field, so snapshots contain it.
#include <mayfly/plugin.h>

enum { ORIENTATION, TARGET, CLOCK, FIELDS };
enum { AMPLITUDE, FREQUENCY, LEAN };

static const mf_PluginField fields[FIELDS] = {
    {"base.orientation", "1", "world", MF_REAL, MF_PER_INSTANCE, 4, 0, MF_PLUGIN_READ,
     "base to world"},
    {"joint.target", "rad", "joint", MF_REAL, MF_PER_JOINT, 1, 0, MF_PLUGIN_WRITE,
     "where the joints are driven to"},
    {"sway.clock", "s", "", MF_REAL, MF_PER_INSTANCE, 1, 0,
     MF_PLUGIN_READ | MF_PLUGIN_WRITE | MF_PLUGIN_OWN, "time since the start"},
};

static const mf_PluginSetting settings[] = {
    {"amplitude", "rad", "of the swaying", 0.1, 0.0, 1.0},
    {"frequency", "Hz", "of the swaying", 0.5, 0.0, 10.0},
    {"lean", "1", "answer per radian of tilt", 0.2, 0.0, 10.0},
};

static void step(const mf_PluginSetup *setup, const void *self, const mf_PluginView *view) {
    const double *s = setup->settings, rotation = 6.283185307179586;
    (void)self;
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++) {
        if (!view->active[lane])
            continue;
        double q[4], sine, cosine, clock = mf_plugin_get(view, CLOCK, 0, lane);
        for (uint32_t c = 0; c < 4; c++)
            q[c] = mf_plugin_get(view, ORIENTATION, c, lane);
        double pitch = 2.0 * (q[0] * q[2] - q[1] * q[3]); // its sine: enough for small tilts
        setup->services->sin_cos(rotation * s[FREQUENCY] * clock, &sine, &cosine);
        for (uint32_t j = 0; j < view->components[TARGET]; j++)
            mf_plugin_set(view, TARGET, j, lane,
                          setup->model->start_angle[j] + s[AMPLITUDE] * sine - s[LEAN] * pitch);
        mf_plugin_set(view, CLOCK, 0, lane, clock + 1e-9 * (double)setup->period);
    }
}

const mf_PluginEntry mf_plugin_entry = {MF_PLUGIN_HEAD,
                                        .kind = MF_PLUGIN_CONTROL,
                                        .widths = MF_PLUGIN_FLOAT | MF_PLUGIN_DOUBLE,
                                        .field_count = FIELDS,
                                        .setting_count = 3,
                                        .name = "sway",
                                        .version = "1.0",
                                        .about = "sways about the start angles, leans against tilt",
                                        .fields = fields,
                                        .settings = settings,
                                        .step = step};
