#include "print_parts.h"

#include <stdio.h>

#include "app.h"
#include "run_folder.h"

mf_Status mf_print_parts_save(const mf_Print *print, const mf_PrintFiles *files, mf_Error *error) {
    uint32_t made;
    mf_Status status = mf_folder_make(print->context, files->stl, &made, error);
    if (status == MF_OK)
        status = mf_print_save_stl(print, files->stl, error);
    if (status == MF_OK && files->mf3 != NULL)
        status = mf_print_save_3mf(print, files->mf3, error);
    return status;
}

void mf_print_parts_report(const mf_Print *print, const mf_PrintFiles *files) {
    const mf_PrintConfig *config = &print->config;
    uint32_t shapes = 0;
    for (uint32_t i = 0; i < print->part_count; i++)
        shapes += print->parts[i].same_as == i;
    printf("parts     %u of %u shapes, %.1f g of %s", print->part_count, shapes,
           print->material_mass * 1e3, print->material);
    if (config->scale != 1.0)
        printf(", at %.3g times the size", config->scale);
    printf("\njoints    balls of %.1f mm, clearance %.2f mm, bars turn by %.0f degrees\n",
           config->ball_diameter * 1e3, config->clearance * 1e3,
           print->tilt * 180.0 / 3.14159265358979323846);
    if (print->actuator_count > 0)
        printf("actuators %u, not printed: body %.1f x %.1f mm, rod %.1f mm, stroke %.1f mm\n",
               print->actuator_count, config->body_diameter * 1e3, config->body_length * 1e3,
               config->rod_diameter * 1e3, config->stroke * 1e3);
    printf("wrote     %s/*.stl, parts.csv, parts.json%s%s\n", files->stl,
           files->mf3 == NULL ? "" : " and ", files->mf3 == NULL ? "" : files->mf3);
}

// An actuator's body holds its rod: it is as long as the stroke and what its default has beyond it.
static void set_scale(const mf_Truss *truss, double scale, mf_PrintConfig *config) {
    const mf_PrintConfig usual = mf_print_config();
    double stroke = 0.0;
    for (uint32_t a = 0; a < truss->actuator_count; a++) {
        const double range = truss->actuators[a].upper - truss->actuators[a].lower;
        stroke = range > stroke ? range : stroke;
    }
    *config = usual;
    config->scale = scale;
    if (stroke > 0.0) {
        config->stroke = stroke * scale;
        config->body_length = config->stroke + (usual.body_length - usual.stroke);
    }
    for (int i = 0; i < 3; i++)
        config->build_volume[i] = 1.0; // the parts' table has their sizes
}

// An actuator of one stage is longer than its stroke, at any scale.
static mf_Status check_strokes(const mf_Truss *truss, mf_Error *error) {
    for (uint32_t a = 0; a < truss->actuator_count; a++) {
        const mf_TrussActuator *actuator = &truss->actuators[a];
        if (!(actuator->lower > actuator->upper - actuator->lower))
            return mf_fail(error, MF_UNSUPPORTED,
                           "actuators[%u]: %.3g m at its shortest, %.3g m at its longest: no scale "
                           "makes a rod fit into its body",
                           a, actuator->lower, actuator->upper);
    }
    return MF_OK;
}

mf_Status mf_print_parts_fit(mf_Context *context, const mf_Truss *truss, mf_Print **out,
                             mf_Error *error) {
    const double most = 20.0, step = 1.05;
    mf_Status status = check_strokes(truss, error);
    if (status != MF_OK)
        return status;
    status = MF_UNSUPPORTED;
    for (double scale = 1.0; scale < most && status == MF_UNSUPPORTED; scale *= step) {
        mf_PrintConfig config;
        set_scale(truss, scale, &config);
        status = mf_print_create(context, truss, &config, out, error);
    }
    return status;
}
