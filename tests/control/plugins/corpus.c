// A correct plugin, or, with one of the CASE_ macros, one with a single defect. cmake/tests.cmake
// builds it once per case; test_plugin.c lists the expected results.
#include <mayfly/plugin.h>

#include <math.h>
#include <string.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

enum { TARGET, ANGLE, COUNT, FIELDS };

#ifdef CASE_links
#define ANGLE_NAME "link.pose"
#elif defined CASE_unknown_field
#define ANGLE_NAME "joint.angel"
#else
#define ANGLE_NAME "joint.angle"
#endif
#ifdef CASE_links
#define ANGLE_UNIT "1"
#elif defined CASE_other_unit
#define ANGLE_UNIT "degree"
#else
#define ANGLE_UNIT "rad"
#endif
#ifdef CASE_other_type
#define ANGLE_TYPE MF_U32
#elif defined CASE_no_type
#define ANGLE_TYPE ((mf_FieldType)77)
#else
#define ANGLE_TYPE MF_REAL
#endif
#ifdef CASE_links
#define ANGLE_SHAPE MF_FIXED_COUNT
#elif defined CASE_other_shape
#define ANGLE_SHAPE MF_PER_INSTANCE
#else
#define ANGLE_SHAPE MF_PER_JOINT
#endif
#ifdef CASE_links
#define ANGLE_WIDTH 7
#elif defined CASE_zero_width
#define ANGLE_WIDTH 0
#else
#define ANGLE_WIDTH 1
#endif
#ifdef CASE_no_access
#define ANGLE_ACCESS 0
#else
#define ANGLE_ACCESS MF_PLUGIN_READ
#endif
#ifdef CASE_own_name
#define COUNT_NAME "joint.count"
#elif defined CASE_field_twice
#define COUNT_NAME "joint.target"
#else
#define COUNT_NAME "corpus.count"
#endif
#ifdef CASE_field_twice
#define COUNT_ACCESS MF_PLUGIN_READ
#else
#define COUNT_ACCESS (MF_PLUGIN_READ | MF_PLUGIN_WRITE | MF_PLUGIN_OWN)
#endif
#ifdef CASE_writes_state
#define TARGET_FIELD                                                                               \
    { "fault.count", "1", "", MF_U32, MF_PER_INSTANCE, 1, 0, MF_PLUGIN_WRITE, "resets" }
#elif defined CASE_writes_fault
#define TARGET_FIELD                                                                               \
    { "fault.word", "1", "", MF_U32, MF_PER_INSTANCE, 1, 0, MF_PLUGIN_WRITE, "faults" }
#elif defined CASE_nothing_written
#define TARGET_FIELD                                                                               \
    { "joint.target", "rad", "joint", MF_REAL, MF_PER_JOINT, 1, 0, MF_PLUGIN_READ, "targets" }
#undef COUNT_ACCESS
#define COUNT_ACCESS (MF_PLUGIN_READ | MF_PLUGIN_OWN)
#else
#define TARGET_FIELD                                                                               \
    {                                                                                              \
        "joint.target", "rad", "joint", MF_REAL, MF_PER_JOINT, 1, 0,                               \
            MF_PLUGIN_READ | MF_PLUGIN_WRITE, "targets"                                            \
    }
#endif

static const mf_PluginField fields[FIELDS] = {
    TARGET_FIELD,
    {ANGLE_NAME, ANGLE_UNIT, "joint", ANGLE_TYPE, ANGLE_SHAPE, ANGLE_WIDTH, 0, ANGLE_ACCESS,
     "angles"},
    {COUNT_NAME, "1", "", MF_REAL, MF_PER_INSTANCE, 1, 0, COUNT_ACCESS, "calls so far"},
};

static const mf_PluginSetting settings[] = {
#ifdef CASE_bad_setting
    {"target", "rad", "of the first joint", 2.0, -1.0, 1.0},
#else
    {"target", "rad", "of the first joint", 0.1, -1.0, 1.0},
#endif
};

#ifdef CASE_undefined_symbol
double a_function_that_nobody_has(double);
#endif

static int create(const mf_PluginSetup *setup, void **self, char *message, size_t message_size) {
    (void)setup;
    (void)self;
#ifdef CASE_refuses
    strncpy(message, "expected a robot with wheels", message_size);
    return 1;
#else
    (void)message;
    (void)message_size;
    return 0;
#endif
}

static void misbehave(const mf_PluginView *view, uint32_t lane) {
    (void)view;
    (void)lane;
#if defined CASE_nan
    if (view->first + lane == 5)
        mf_plugin_set(view, TARGET, 0, lane, NAN);
#elif defined CASE_links
    mf_plugin_set(view, COUNT, 0, lane, mf_plugin_get(view, ANGLE, 2, lane)); // height of the base
#elif defined CASE_infinite
    if (view->first + lane == 5)
        mf_plugin_set(view, COUNT, 0, lane, INFINITY);
#elif defined CASE_rounding && defined(__SSE2__)
    _MM_SET_ROUNDING_MODE(_MM_ROUND_UP);
#elif defined CASE_subnormal && defined(__SSE2__)
    _mm_setcsr(_mm_getcsr() | 0x8040u);
#elif defined CASE_extended && defined(__x86_64__)
    const uint16_t word = 0x0f7f; // rounds to zero
    __asm__ volatile("fldcw %0" : : "m"(word));
#elif defined CASE_before
    ((char *)view->fields[TARGET])[-1] = 0;
#elif defined CASE_behind
    mf_plugin_set(view, COUNT, view->components[COUNT], lane, 0.0);
#elif defined CASE_read_only
    mf_plugin_set(view, ANGLE, 0, lane, 0.25);
#elif defined CASE_others
    for (uint32_t i = 0; i < MF_BLOCK; i++)
        if (!view->active[i])
            mf_plugin_set(view, TARGET, 0, i, 0.75);
#elif defined CASE_pointers
    ((void **)(uintptr_t)view->fields)[TARGET] = NULL;
    ((uint32_t *)(uintptr_t)view->components)[TARGET] = 1000000;
#endif
}

static void step(const mf_PluginSetup *setup, const void *self, const mf_PluginView *view) {
    (void)self;
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++) {
        if (!view->active[lane])
            continue;
        double count = mf_plugin_get(view, COUNT, 0, lane);
#ifdef CASE_undefined_symbol
        count = a_function_that_nobody_has(count);
#endif
        mf_plugin_set(view, TARGET, 0, lane, setup->settings[0] + 0.001 * count);
        mf_plugin_set(view, COUNT, 0, lane, count + 1.0);
    }
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
        if (view->active[lane] && view->fields[TARGET] != NULL)
            misbehave(view, lane);
}

#ifdef CASE_missing_symbol
#define mf_plugin_entry some_other_name
extern MF_API const mf_PluginEntry some_other_name;
#endif

#pragma GCC diagnostic ignored "-Woverride-init"
#ifdef __clang__
#pragma clang diagnostic ignored "-Winitializer-overrides"
#endif

const mf_PluginEntry mf_plugin_entry = {
    MF_PLUGIN_HEAD,
    .kind = MF_PLUGIN_CONTROL,
    .widths = MF_PLUGIN_FLOAT | MF_PLUGIN_DOUBLE,
    .field_count = FIELDS,
    .setting_count = 1,
    .name = "corpus",
    .version = "1.0",
    .about = "counts and sets the target of the first joint",
    .fields = fields,
    .settings = settings,
    .create = create,
    .step = step,
#if defined CASE_magic
    .magic = 1,
#elif defined CASE_old_abi
    .abi_major = MF_PLUGIN_ABI_MAJOR - 1,
#elif defined CASE_new_abi
    .abi_minor = MF_PLUGIN_ABI_MINOR + 1,
#elif defined CASE_entry_size
    .struct_size = sizeof(mf_PluginEntry) - 8,
#elif defined CASE_view_size
    .view_size = sizeof(mf_PluginView) + 4,
#elif defined CASE_layout
    .layout = MF_PLUGIN_LAYOUT ^ 1,
#elif defined CASE_no_name
    .name = NULL,
#elif defined CASE_bad_name
    .name = "Corpus 1",
#elif defined CASE_no_version
    .version = "",
#elif defined CASE_kind
    .kind = 7,
#elif defined CASE_no_widths
    .widths = 0,
#elif defined CASE_float_only
    .widths = MF_PLUGIN_FLOAT,
#elif defined CASE_double_only
    .widths = MF_PLUGIN_DOUBLE,
#elif defined CASE_no_step
    .step = NULL,
#elif defined CASE_no_fields
    .fields = NULL,
#elif defined CASE_many_fields
    .field_count = MF_PLUGIN_FIELD_LIMIT + 1,
#elif defined CASE_no_settings
    .settings = NULL,
#elif defined CASE_motion
    .kind = MF_PLUGIN_MOTION,
#endif
};
