#include "print_parts.h"

#include <stdio.h>

#include "app.h"
#include "run_folder.h"

mf_Status mf_print_parts_save(const mf_Print *print, const mf_PrintFiles *files, mf_Error *error) {
    uint32_t made;
    MF_TRY(mf_folder_make(print->context, files->stl, &made, error));
    MF_TRY(mf_print_save_stl(print, files->stl, error));
    if (files->mf3 != NULL)
        MF_TRY(mf_print_save_3mf(print, files->mf3, error));
    return MF_OK;
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
static mf_PrintConfig config_for(const mf_Truss *truss, double scale) {
    mf_PrintConfig config = mf_print_config();
    double stroke = 0.0;
    for (uint32_t a = 0; a < truss->actuator_count; a++) {
        const double range = truss->actuators[a].upper - truss->actuators[a].lower;
        stroke = range > stroke ? range : stroke;
    }
    config.scale = scale;
    if (stroke > 0.0) {
        config.body_length += stroke * scale - config.stroke;
        config.stroke = stroke * scale;
    }
    for (int i = 0; i < 3; i++)
        config.build_volume[i] = 10.0; // the list of parts has their sizes
    return config;
}

// Ranges of actuators with a share of their strokes about their middle.
static void shrink_strokes(const mf_Truss *truss, double share, mf_TrussActuator *out) {
    for (uint32_t a = 0; a < truss->actuator_count; a++) {
        const mf_TrussActuator *from = &truss->actuators[a];
        const double middle = 0.5 * (from->lower + from->upper);
        const double half = 0.5 * share * (from->upper - from->lower);
        out[a] = *from;
        out[a].lower = middle - half;
        out[a].upper = middle + half;
    }
}

// The largest share of the strokes, at least `least`, at the smallest scale that has one.
static mf_Status try_scales(mf_Context *context, const mf_Truss *truss, double least,
                            mf_TrussActuator *shorter, double *share, mf_Print **out,
                            mf_Error *error) {
    const double most = 20.0, step = 1.1, less = 0.8;
    mf_Truss tried = *truss;
    mf_Status status = MF_UNSUPPORTED;
    tried.actuators = shorter;
    for (double scale = 1.0; scale < most && status == MF_UNSUPPORTED; scale *= step) {
        for (*share = 1.0; *share >= least && status == MF_UNSUPPORTED;) {
            shrink_strokes(truss, *share, shorter);
            const mf_PrintConfig config = config_for(&tried, scale);
            status = mf_print_create(context, &tried, &config, out, error);
            *share *= status == MF_UNSUPPORTED ? less : 1.0;
        }
    }
    return status;
}

mf_Status mf_print_parts_fit(mf_Context *context, const mf_Truss *truss, mf_Print **out,
                             double *share, mf_Error *error) {
    static const double least[] = {0.5, 0.05};
    mf_TrussActuator *shorter = mf_allocate(context, truss->actuator_count + 1, sizeof *shorter);
    mf_Status status = MF_UNSUPPORTED;
    MF_NEED_MEMORY(shorter != NULL, error, "print");
    for (int i = 0; i < 2 && status == MF_UNSUPPORTED; i++)
        status = try_scales(context, truss, least[i], shorter, share, out, error);
    mf_release(context, shorter);
    return status;
}
