// A user-defined policy: modules in a chain bend in a wave. Each learns its place from messages
// only: the first, whose front is free, is 0, and each tells the one behind its own. It needs
// messages of 16 bytes (mayfly/messages.h); dock 0 is the front, dock 1 the back.
#include <mayfly/plugin.h>

enum { FRONT, BACK, SLOT = 2 + 16 / 4 };
enum { ENGAGED = 2 }; // of dock.state
enum { STATE, TARGET, OUT, OUT_COUNT, IN, IN_COUNT, READY, PLACE, FIELDS };
enum { AMPLITUDE, FREQUENCY, LAG };

#define BOTH (MF_PLUGIN_READ | MF_PLUGIN_WRITE)
static const mf_PluginField fields[FIELDS] = {
    {"dock.state", "1", "", MF_U32, MF_FIXED_COUNT, 1, 0, MF_PLUGIN_READ, "what docks do"},
    {"joint.target", "rad", "joint", MF_REAL, MF_PER_JOINT, 1, 0, MF_PLUGIN_WRITE, "the action"},
    {"message.out", "1", "", MF_U32, MF_FIXED_COUNT, SLOT, 0, BOTH, "outboxes"},
    {"message.out_count", "1", "", MF_U32, MF_FIXED_COUNT, 1, 0, BOTH, "messages in them"},
    {"message.in", "1", "", MF_U32, MF_FIXED_COUNT, SLOT, 0, BOTH, "boxes"},
    {"message.in_count", "1", "", MF_U32, MF_FIXED_COUNT, 1, 0, BOTH, "messages in them"},
    {"message.ready", "1", "", MF_U32, MF_FIXED_COUNT, 1, 0, BOTH, "that have arrived"},
    {"wave.place", "1", "", MF_U32, MF_PER_INSTANCE, 1, 0, BOTH | MF_PLUGIN_OWN, "in the chain"},
};

static const mf_PluginSetting settings[] = {
    {"amplitude", "rad", "of the joints", 0.6, 0.0, 3.0},
    {"frequency", "Hz", "waves in a second", 0.6, 0.0, 10.0},
    {"lag", "rad", "phase by which a module is behind the one before", 1.2, -6.3, 6.3},
};

static void step(const mf_PluginSetup *setup, const void *self, const mf_PluginView *view) {
    const double *s = setup->settings, rotation = 6.283185307179586;
    (void)self;
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++) {
        uint32_t *index = (uint32_t *)view->fields[PLACE] + lane, type, content[SLOT - 2] = {0};
        double sine, cosine;
        if (!view->active[lane])
            continue;
        while (mf_plugin_receive(view, IN, IN_COUNT, READY, SLOT, FRONT, lane, &type, content))
            *index = content[0] + 1;
        if (((const uint32_t *)view->fields[STATE])[FRONT * MF_BLOCK + lane] != ENGAGED)
            *index = 0;
        content[0] = *index;
        mf_plugin_send(view, OUT, OUT_COUNT, SLOT, BACK, lane, 1, content);
        setup->services->sin_cos(
            rotation * s[FREQUENCY] * 1e-9 * (double)view->time - s[LAG] * *index, &sine, &cosine);
        for (uint32_t j = 0; j < view->components[TARGET]; j++)
            mf_plugin_set(view, TARGET, j, lane, s[AMPLITUDE] * sine);
    }
}

const mf_PluginEntry mf_plugin_entry = {MF_PLUGIN_HEAD,
                                        .kind = MF_PLUGIN_CONTROL,
                                        .widths = MF_PLUGIN_FLOAT | MF_PLUGIN_DOUBLE,
                                        .field_count = FIELDS,
                                        .setting_count = 3,
                                        .name = "wave",
                                        .version = "1.0",
                                        .about = "a wave along a chain of modules, by messages",
                                        .fields = fields,
                                        .settings = settings,
                                        .step = step};
