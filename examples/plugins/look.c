// A controller that reads a picture: the head follows what is red. Every call it finds the middle
// of the red pixels of the camera `eye`, 32 x 24 pixels, and turns the first joint towards it. The
// picture is a field like any other; docs/explanation/cameras.md has its form.
#include <mayfly/plugin.h>

enum { COLOR, TARGET, FIELDS };
enum { GAIN };
enum { WIDTH = 32, HEIGHT = 24 }; // [pixel] of the camera

static const mf_PluginField fields[FIELDS] = {
    {"camera.eye.color", "1", "", MF_U32, MF_FIXED_COUNT, 1, 0, MF_PLUGIN_READ,
     "red + 256 green + 65536 blue of each pixel"},
    {"joint.target", "rad", "joint", MF_REAL, MF_PER_JOINT, 1, 0, MF_PLUGIN_READ | MF_PLUGIN_WRITE,
     "where the joints are driven to"},
};

static const mf_PluginSetting settings[] = {
    {"gain", "rad", "turn for red at the picture's edge", 0.05, 0.0, 1.0},
};

// From -1, at the left edge, to 1; 0 where nothing is red.
static double find_red(const mf_PluginView *view, uint32_t lane) {
    const uint32_t *color = view->fields[COLOR];
    int32_t sum = 0, count = 0;
    for (int32_t i = 0; i < WIDTH * HEIGHT; i++) {
        const uint32_t pixel = color[i * MF_BLOCK + lane];
        const uint32_t red = pixel & 255, green = pixel >> 8 & 255, blue = pixel >> 16 & 255;
        if (red > 2 * green && red > 2 * blue) {
            sum += 2 * (i % WIDTH) - (WIDTH - 1);
            count++;
        }
    }
    return count > 0 ? (double)sum / (double)(count * (WIDTH - 1)) : 0.0;
}

static void step(const mf_PluginSetup *setup, const void *self, const mf_PluginView *view) {
    (void)self;
    if (view->components[COLOR] != WIDTH * HEIGHT || view->components[TARGET] == 0)
        return; // another camera: it looks nowhere
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
        if (view->active[lane])
            mf_plugin_set(view, TARGET, 0, lane,
                          mf_plugin_get(view, TARGET, 0, lane) -
                              setup->settings[GAIN] * find_red(view, lane));
}

const mf_PluginEntry mf_plugin_entry = {MF_PLUGIN_HEAD,
                                        .kind = MF_PLUGIN_CONTROL,
                                        .widths = MF_PLUGIN_FLOAT | MF_PLUGIN_DOUBLE,
                                        .field_count = FIELDS,
                                        .setting_count = 1,
                                        .name = "look",
                                        .version = "1.0",
                                        .about = "turns the first joint towards what is red",
                                        .fields = fields,
                                        .settings = settings,
                                        .step = step};
