// A controller that uses a joint slot: the robot carries a magnet, which catches the nearest body
// within reach while it is on, and lets go when it is off. A program switches it by the field
// magnet.command, or it follows the clock.
#include <mayfly/joints.h>
#include <mayfly/plugin.h>

enum { REQUEST, FRAME, SETTING, STATE, COMMAND, FIELDS };
enum { ON, OFF, REACH, HEIGHT, FORCE_LIMIT };
enum { BY_CLOCK, ALWAYS_ON, ALWAYS_OFF }; // values of magnet.command
enum { Z = 2, SLOT_FORCE_LIMIT = 5, SLOT_REACH = 7 };

static const mf_PluginField fields[FIELDS] = {
    {"joint_slot.request", "1", "", MF_U32, MF_FIXED_COUNT, 1, 0, MF_PLUGIN_READ | MF_PLUGIN_WRITE,
     "what is to become of the joint"},
    {"joint_slot.frame", "1", "", MF_REAL, MF_FIXED_COUNT, 7, 0, MF_PLUGIN_READ | MF_PLUGIN_WRITE,
     "where the magnet is"},
    {"joint_slot.setting", "1", "", MF_REAL, MF_FIXED_COUNT, 8, 0, MF_PLUGIN_READ | MF_PLUGIN_WRITE,
     "its reach and strength"},
    {"joint_slot.state", "1", "", MF_U32, MF_FIXED_COUNT, 1, 0, MF_PLUGIN_READ,
     "whether it holds something"},
    {"magnet.command", "1", "", MF_REAL, MF_PER_INSTANCE, 1, 0,
     MF_PLUGIN_READ | MF_PLUGIN_WRITE | MF_PLUGIN_OWN, "0 by the clock, 1 on, 2 off"},
};

static const mf_PluginSetting settings[] = {
    {"on", "s", "when it is switched on", 0.0, 0.0, 1e9},
    {"off", "s", "when it is switched off", 1e9, 0.0, 1e9},
    {"reach", "m", "largest distance of the center of mass of what is caught", 0.2, 0.0, 1e3},
    {"height", "m", "of the magnet in the base's frame", 0.0, -1e3, 1e3},
    {"force_limit", "N", "the load is lost above this; 0: never", 0.0, 0.0, 1e9},
};

static bool is_on(const double *s, const mf_PluginView *view, uint32_t lane) {
    const double time = 1e-9 * (double)view->time;
    const double command = mf_plugin_get(view, COMMAND, 0, lane);
    return command == ALWAYS_ON || (command == BY_CLOCK && time >= s[ON] && time < s[OFF]);
}

// The values of the first slot are the first components of each field.
static void step(const mf_PluginSetup *setup, const void *self, const mf_PluginView *view) {
    const double *s = setup->settings;
    const uint32_t *state = view->fields[STATE];
    uint32_t *request = view->fields[REQUEST];
    (void)self;
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++) {
        if (!view->active[lane])
            continue;
        const bool on = is_on(s, view, lane);
        if (on && state[lane] == MF_JOINT_SLOT_FREE) {
            mf_plugin_set(view, FRAME, Z, lane, s[HEIGHT]);
            mf_plugin_set(view, SETTING, SLOT_REACH, lane, s[REACH]);
            mf_plugin_set(view, SETTING, SLOT_FORCE_LIMIT, lane, s[FORCE_LIMIT]);
            request[lane] = MF_JOINT_REQUEST_JOIN; // the partner: the nearest link, as after resets
        } else if (!on && state[lane] != MF_JOINT_SLOT_FREE) {
            request[lane] = MF_JOINT_REQUEST_LEAVE;
        }
    }
}

const mf_PluginEntry mf_plugin_entry = {MF_PLUGIN_HEAD,
                                        .kind = MF_PLUGIN_CONTROL,
                                        .widths = MF_PLUGIN_FLOAT | MF_PLUGIN_DOUBLE,
                                        .field_count = FIELDS,
                                        .setting_count = 5,
                                        .name = "magnet",
                                        .version = "1.0",
                                        .about = "catches what is near and lets it go",
                                        .fields = fields,
                                        .settings = settings,
                                        .step = step};
