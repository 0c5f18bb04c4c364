// Parameters of a robot from a log of the machine.
//
// The sum of squares of all differences between log and simulation, each over the standard
// deviation of its channel's noise, is searched over the ranges of the parameters, then refined.
// The noise is estimated from the log, and, for a second refinement, from what the first one has
// left, which makes it the most likely fit of channels with unknown noise. A term of width one
// range around the model's own value keeps parameters there that the log does not tell.
//
// Intervals come from the squares at the minimum: covariance = H^-1, H half the second derivatives
// of the sum, by differences of the residuals. Residuals that resemble their neighbors count as so
// many fewer (Sokal 1997: integrated autocorrelation time). Directions of H in which a parameter
// may move by a large part of its range are reported as such.
#include "evaluate/fit.h"

#include "base/floats.h"
#include "base/hash.h"
#include "base/memory.h"
#include "math/scalar.h"
#include "model/points.h"

#include <mayfly/dynamics.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define QUANTILE 1.96  // [1] of the normal distribution, for 95 %
#define VAGUE 0.1      // [1] half an interval, over the scale, of what is not identified
#define LOG_SCALE 5.0  // [1] that scale over the value, of ranges over orders of magnitude
#define TAKES_PART 0.3 // [1] component of a parameter in such a direction
#define SEEN 5.0       // [1] standard deviations that a parameter alone would move there
#define LEAST 1e-12    // [1] eigenvalue, against rounding
#define NOISE_LEFT 1.5 // [1] mean square over the noise of a fit that needs no other try
#define FIRST_PART 0.1 // [1] of the fitted time, for that
#define LONGER 1.4     // [1] each part than the one before
#define UNSTABLE 1e4   // [1] of the sum of squares, with Runge-Kutta
#define SAME 0.02      // [1] relative change of a noise that needs no other try
#define MOVED 0.5      // [1] of an interval: what a shorter step may move
enum { HALVINGS = 2 }; // [1] most, of the step
#define MEMORY 1e9     // [byte] most of the values of a batch

mf_FitConfig mf_fit_config(void) {
    return (mf_FitConfig){
        .struct_size = sizeof(mf_FitConfig), .holdout = 0.2, .generations = 20, .seed = 1};
}

void mf_fit_note(mf_FitProblem *problem, const char *format, ...) {
    va_list arguments;
    if (problem->note_count == MF_FIT_NOTES)
        return;
    va_start(arguments, format);
    vsnprintf(problem->notes[problem->note_count++], MF_FIT_NOTE, format, arguments);
    va_end(arguments);
}

// ---- the problem -------------------------------------------------------------------------------

static mf_Status check(const mf_SceneFile *file, const mf_FitConfig *config, mf_Error *error) {
    MF_NEED(config->struct_size == sizeof *config, error, "fit: start from mf_fit_config()");
    MF_NEED(config->holdout >= 0.0 && config->holdout <= 0.9, error, "fit.holdout: need 0 .. 0.9");
    MF_NEED(config->population == 0 || (config->population >= 4 && config->population <= 4096),
            error, "fit.population: need 0 or 4 .. 4096");
    MF_NEED(config->map_count == 0 || config->map != NULL, error, "fit.map: is NULL");
    if (file->group_count != 1 || file->groups[0].kind != NULL)
        return mf_fail_at(error, MF_UNSUPPORTED, file->file, 0, 0,
                          "expected a robot, or a scene of one group of robots, to fit");
    return MF_OK;
}

// One exact robot of the file, in double precision: differences of simulations must not be those
// of rounding.
static mf_Status make_problem(mf_Context *context, mf_SceneFile *file, const mf_Log *log,
                              mf_FitProblem **out, mf_Error *error) {
    mf_FitProblem *own = mf_allocate(context, 1, sizeof *own);
    MF_NEED_MEMORY(own != NULL, error, "fit");
    *out = own;
    own->context = context;
    own->log = log;
    own->file = *file;
    own->group = file->groups[0];
    own->file.groups = &own->group;
    own->file.evolves = false;
    if (own->group.model == NULL)
        MF_TRY(
            mf_model_load(context, own->group.model_path, &own->group.import, &own->loaded, error));
    own->model = own->group.model != NULL ? own->group.model : own->loaded;
    own->group.model = own->model;
    own->group.count = 1;
    own->group.joint_noise = 0.0;
    own->group.double_precision = true;
    own->group.sensors = true;
    return MF_OK;
}

// [kg m^2] that each joint moves at the start, everything else at rest.
static mf_Status find_inertia(mf_FitProblem *problem, mf_Group *group, double *out,
                              mf_Error *error) {
    const mf_Model *model = problem->model;
    const uint32_t n = mf_group_velocity_count(group);
    double *matrix = mf_allocate(problem->context, n, n * sizeof *matrix);
    MF_NEED_MEMORY(matrix != NULL, error, "fit");
    const mf_Status status = mf_group_mass_matrix(group, 0, 1, matrix, error);
    for (uint32_t j = 0; j < model->joint_count && status == MF_OK; j++) {
        const uint32_t at = model->joints[j].velocity_address + n - model->velocity_count;
        out[j] = mf_joint_has_axis(&model->joints[j]) ? matrix[(size_t)at * n + at] : 0.0;
    }
    mf_release(problem->context, matrix);
    return status;
}

// Errors of the measured angles at the start, within the noise.
static void add_starts(mf_FitProblem *problem) {
    for (uint32_t o = 0; o < problem->output_count; o++) {
        const mf_FitOutput *output = &problem->outputs[o];
        if (strcmp(output->field, "joint.angle") != 0 || problem->unknown_count == MF_UNKNOWN_MOST)
            continue;
        const double width = mf_larger(output->channel->noise, 1e-9);
        problem->ranges[problem->unknown_count] =
            (mf_Unknown){-100.0 * width, 100.0 * width, 0.0, width, MF_UNKNOWN_EVEN, false};
        problem->unknowns[problem->unknown_count++] =
            (mf_FitUnknown){MF_FIT_ANGLE, output->component};
    }
}

static mf_Status prepare(mf_FitProblem *problem, const mf_FitConfig *config, mf_Fit *fit,
                         mf_Error *error) {
    const mf_Model *model = problem->model;
    mf_Scene scene = {0};
    mf_SceneConfig settings = mf_scene_config();
    settings.isolated = true;
    MF_TRY(mf_scene_create(problem->context, &problem->file, &settings, &scene, error));
    double *inertia = mf_allocate(problem->context, model->joint_count + 1, sizeof *inertia);
    mf_Status status = MF_OK;
    problem->step = mf_time_to_seconds(scene.step);
    if (inertia == NULL)
        status = mf_fail(error, MF_NO_MEMORY, "fit: out of memory");
    else if (scene.motion != MF_MOTION_ARTICULATED)
        status = mf_fail_at(error, MF_UNSUPPORTED, problem->file.file, 0, 0,
                            "a fit needs the motion articulated, the robot moves by %s",
                            mf_motion_name(scene.motion));
    MF_THEN(status, mf_fit_columns(problem, scene.group, config, &fit->channels, error));
    MF_THEN(status, find_inertia(problem, scene.group, inertia, error));
    MF_THEN(status, mf_fit_choose(problem, config->parameters, inertia, error));
    if (status == MF_OK)
        add_starts(problem);
    mf_release(problem->context, inertia);
    mf_scene_destroy(&scene);
    return status;
}

// ---- residuals ---------------------------------------------------------------------------------

// Predictions of fitted samples, in their place, to differences over the noise.
static void weigh(const mf_FitProblem *problem, double *values) {
    for (uint32_t o = 0; o < problem->output_count; o++) {
        const mf_FitOutput *output = &problem->outputs[o];
        const double *measured = output->column->value + output->skipped;
        for (uint32_t i = 0; i < output->fitted; i++)
            values[i] = (values[i] - output->factor * measured[i]) * output->weight;
        values += output->fitted;
    }
}

// mf_fit_simulate with problem->accuracy: errors of order 1 cancel in 2 f(h/2) - f(h).
static mf_Status predict(mf_FitProblem *problem, const double *points, uint32_t count, bool whole,
                         double *values, mf_Error *error) {
    const size_t all = (size_t)count * (whole ? problem->samples : problem->fitted_samples);
    const double step = problem->step;
    MF_TRY(mf_fit_simulate(problem, points, count, whole, values, error));
    if (problem->accuracy != MF_FIT_LIMIT)
        return MF_OK;
    double *finer = mf_allocate(problem->context, all, sizeof *finer);
    MF_NEED_MEMORY(finer != NULL, error, "fit");
    problem->step = 0.5 * step;
    const mf_Status status = mf_fit_simulate(problem, points, count, whole, finer, error);
    problem->step = step;
    for (size_t i = 0; i < all && status == MF_OK; i++)
        values[i] = 2.0 * finer[i] - values[i];
    mf_release(problem->context, finer);
    return status;
}

static mf_Status evaluate(void *user, const double *points, uint32_t count, double *residuals,
                          mf_Error *error) {
    mf_FitProblem *problem = user;
    MF_TRY(predict(problem, points, count, false, residuals, error));
    for (uint32_t i = 0; i < count; i++)
        weigh(problem, residuals + (size_t)i * problem->fitted_samples);
    return MF_OK;
}

static double root_mean(const double *values, const mf_FitOutput *output, uint32_t from,
                        uint32_t to) {
    double sum = 0.0;
    for (uint32_t i = from; i < to; i++) {
        const double apart =
            values[i] - output->factor * output->column->value[output->skipped + i];
        sum += apart * apart;
    }
    return to > from ? mf_sqrt(sum / (to - from)) : (double)NAN;
}

// Errors of the whole log with these unknowns.
static mf_Status measure(mf_FitProblem *problem, const double *x, bool fitted, mf_Error *error) {
    double *values = mf_allocate(problem->context, problem->samples, sizeof *values);
    MF_NEED_MEMORY(values != NULL, error, "fit");
    const mf_Status status = predict(problem, x, 1, true, values, error);
    const double *at = values;
    for (uint32_t o = 0; o < problem->output_count && status == MF_OK; o++) {
        const mf_FitOutput *output = &problem->outputs[o];
        mf_FitChannel *channel = output->channel;
        *(fitted ? &channel->after : &channel->before) = root_mean(at, output, 0, output->fitted);
        *(fitted ? &channel->predicted_after : &channel->predicted_before) =
            root_mean(at, output, output->fitted, output->count);
        at += output->count;
    }
    mf_release(problem->context, values);
    return status;
}

// ---- certainty ---------------------------------------------------------------------------------

// How many neighboring residuals count as one, >= 1.
static double correlation_time(const double *values, uint32_t count) {
    double mean = 0.0, square = 0.0, time = 1.0;
    for (uint32_t i = 0; i < count; i++)
        mean += values[i] / count;
    for (uint32_t i = 0; i < count; i++)
        square += (values[i] - mean) * (values[i] - mean);
    for (uint32_t lag = 1; lag < count / 4 && square > 0.0; lag++) {
        double product = 0.0;
        for (uint32_t i = lag; i < count; i++)
            product += (values[i] - mean) * (values[i - lag] - mean);
        if (!(product / square > 2.0 / mf_sqrt(count))) // noise
            break;
        time += 2.0 * product / square;
    }
    return time;
}

// H, n rows of n; `residuals` and `columns` of the minimum.
static void find_curvature(const mf_FitProblem *problem, const double *residuals,
                           const double *columns, double *h) {
    const uint32_t n = problem->unknown_count;
    size_t first = 0;
    memset(h, 0, (size_t)n * n * sizeof *h); // what a longer step has left
    for (uint32_t i = 0; i < n; i++)
        h[i * n + i] = 1.0 / (problem->ranges[i].width * problem->ranges[i].width);
    for (uint32_t o = 0; o < problem->output_count; o++) {
        const uint32_t count = problem->outputs[o].fitted;
        const double weight = 1.0 / correlation_time(residuals + first, count);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k <= i; k++) {
                const double *a = columns + (size_t)i * problem->fitted_samples + first,
                             *b = columns + (size_t)k * problem->fitted_samples + first;
                double sum = 0.0;
                for (uint32_t r = 0; r < count; r++)
                    sum += a[r] * b[r];
                h[i * n + k] += weight * sum;
            }
        first += count;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            h[k * n + i] = h[i * n + k];
}

// In which parameters are judged: of a range over orders of magnitude the value counts.
static double scale_of(const mf_FitProblem *problem, const mf_Fit *fit, uint32_t i) {
    const mf_Unknown *range = &problem->ranges[i];
    const bool counts = i < fit->parameter_count && range->scale == MF_UNKNOWN_LOG;
    return counts ? LOG_SCALE * fit->parameters[i].value : range->width;
}

// Adds the parameter to the list of names, of which there are `all`.
static void add_name(char names[220], const char *name, uint32_t count, uint32_t all) {
    const size_t length = strlen(names);
    const char *between = count == 0 ? "" : count + 1 == all ? " and " : ", ";
    snprintf(names + length, 220 - length, "%s%s", between, name);
}

// A direction in which the parameters may move far: `scaled` is H over the scales. Either a
// parameter may do so alone, or some do so together, each of which alone would be seen.
static void note_direction(mf_FitProblem *problem, mf_Fit *fit, const double *scaled,
                           const double *vectors, double deviation, uint32_t at, uint32_t n) {
    bool takes_part[MF_UNKNOWN_MOST] = {false};
    char names[220] = "";
    uint32_t all = 0, count = 0;
    for (uint32_t i = 0; i < fit->parameter_count; i++) {
        mf_FitParameter *own = &fit->parameters[i];
        const double alone = 1.0 / mf_sqrt(scaled[i * n + i]);
        if (QUANTILE * alone > VAGUE &&
            mf_abs(vectors[i * fit->parameter_count + at]) > TAKES_PART) {
            if (own->identified)
                mf_fit_note(problem,
                            "%s cannot be identified by this log, which hardly depends on it: "
                            "trust the model's %.4g %s as much",
                            own->name, own->start, own->unit);
            own->identified = false;
        } else if (deviation * mf_abs(vectors[i * fit->parameter_count + at]) > SEEN * alone) {
            takes_part[i] = true;
            all++;
        }
    }
    for (uint32_t i = 0; i < fit->parameter_count && all > 1; i++) {
        if (!takes_part[i])
            continue;
        add_name(names, fit->parameters[i].name, count++, all);
        fit->parameters[i].identified = false;
    }
    if (all > 1)
        mf_fit_note(problem, "%s cannot be distinguished by this log", names);
}

// Intervals from H, and what it leaves open.
static mf_Status judge(mf_FitProblem *problem, mf_Fit *fit, const double *h, mf_Error *error) {
    const uint32_t n = problem->unknown_count;
    double *values, *vectors, *scaled, *rotated;
    const mf_Array arrays[] = {MF_ARRAY(values, n), MF_ARRAY(vectors, (size_t)n * n),
                               MF_ARRAY(scaled, (size_t)n * n), MF_ARRAY(rotated, (size_t)n * n)};
    MF_NEED_MEMORY(mf_allocate_arrays(problem->context, arrays, 4), error, "fit");
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++)
            rotated[i * n + k] = scaled[i * n + k] =
                h[i * n + k] * scale_of(problem, fit, i) * scale_of(problem, fit, k);
    mf_symmetric_eigen(n, rotated, values, vectors);
    // The covariance of what is reported, whatever the initial angles are.
    const uint32_t own = fit->parameter_count;
    for (uint32_t i = 0; i < own; i++)
        for (uint32_t j = 0; j < own; j++) {
            rotated[i * own + j] = 0.0;
            for (uint32_t k = 0; k < n; k++)
                rotated[i * own + j] +=
                    vectors[i * n + k] * vectors[j * n + k] / mf_larger(values[k], LEAST);
        }
    for (uint32_t i = 0; i < own; i++) {
        fit->parameters[i].interval =
            QUANTILE * mf_sqrt(rotated[i * own + i]) * scale_of(problem, fit, i);
        fit->parameters[i].identified = problem->moves;
    }
    mf_symmetric_eigen(own, rotated, values, vectors);
    if (!problem->moves)
        mf_fit_note(problem,
                    "the log tells nothing: all that it measured is noise about a constant");
    for (uint32_t k = own; k-- > 0 && problem->moves;) {
        const double deviation = mf_sqrt(mf_larger(values[k], 0.0));
        if (QUANTILE * deviation > VAGUE)
            note_direction(problem, fit, scaled, vectors, deviation, k, n);
    }
    mf_release(problem->context, values);
    return MF_OK;
}

// How far half the step would move the minimum, to first order: x - (J^T J)^-1 J^T (r' - r) with
// the residuals r' of such steps, to `moved`, per parameter. *most: of all, over the interval.
// `names` says which would move by more than it.
static mf_Status check_step(mf_FitProblem *problem, const mf_Fit *fit, const double *x,
                            const double *residuals, const double *columns, double *h,
                            double *moved, double *most, char names[200], mf_Error *error) {
    const size_t n = problem->unknown_count, m = problem->fitted_samples;
    const double step = problem->step;
    double *finer, *shift;
    const mf_Array arrays[] = {MF_ARRAY(finer, m), MF_ARRAY(shift, n)};
    *most = 0.0;
    names[0] = '\0';
    MF_NEED_MEMORY(mf_allocate_arrays(problem->context, arrays, 2), error, "fit");
    problem->step = 0.5 * step;
    const mf_Status status = evaluate(problem, x, 1, finer, error);
    problem->step = step;
    for (size_t i = 0; i < n && status == MF_OK; i++) {
        const double *a = columns + i * m;
        for (size_t r = 0; r < m; r++)
            shift[i] -= a[r] * (finer[r] - residuals[r]);
        for (size_t k = 0; k < n; k++) {
            const double *b = columns + k * m, width = problem->ranges[i].width;
            double sum = i == k ? 1.0 / (width * width) : 0.0;
            for (size_t r = 0; r < m; r++)
                sum += a[r] * b[r];
            h[i * n + k] = sum;
        }
    }
    if (status == MF_OK && mf_symmetric_solve((uint32_t)n, h, shift))
        for (uint32_t i = 0; i < fit->parameter_count; i++) {
            const mf_FitParameter *own = &fit->parameters[i];
            const size_t at = strlen(names);
            moved[i] = own->identified ? mf_abs(shift[i]) : 0.0;
            if (!own->identified)
                continue;
            *most = mf_larger(*most, mf_abs(shift[i]) / own->interval);
            if (mf_abs(shift[i]) > own->interval)
                snprintf(names + at, 200 - at, "%s%s by %.2g %s", at > 0 ? ", " : "", own->name,
                         shift[i], own->unit);
        }
    mf_release(problem->context, finer);
    return status;
}

static void note_ends(mf_FitProblem *problem, const mf_Fit *fit) {
    for (uint32_t i = 0; i < fit->parameter_count; i++) {
        const mf_FitParameter *own = &fit->parameters[i];
        const double near = 1e-6 * (own->upper - own->lower);
        if (own->value >= own->upper - near ||
            (own->lower > 0.0 && own->value <= own->lower + near))
            mf_fit_note(problem,
                        "%s is at the end of its range, %.4g .. %.4g %s: --parameters %s=LOW:HIGH "
                        "gives it another",
                        own->name, own->lower, own->upper, own->unit, own->name);
    }
}

// ---- the fit -----------------------------------------------------------------------------------

// The noise of each channel is what the fit has left. Whether that changes one.
static bool update_noise(mf_FitProblem *problem, const double *residuals) {
    bool changed = false;
    const double free = problem->fitted_samples > problem->unknown_count
                            ? 1.0 - (double)problem->unknown_count / problem->fitted_samples
                            : 1.0;
    for (uint32_t o = 0; o < problem->output_count; o++) {
        mf_FitOutput *output = &problem->outputs[o];
        double sum = 0.0;
        for (uint32_t i = 0; i < output->fitted; i++)
            sum += residuals[i] * residuals[i];
        if (output->fitted > 0 && mf_is_finite(sum)) {
            const double before = output->channel->noise;
            output->channel->noise =
                mf_larger(before * mf_sqrt(sum / (free * output->fitted)), output->least);
            output->weight = 1.0 / output->channel->noise;
            changed = changed || mf_abs(output->channel->noise - before) > SAME * before;
        }
        residuals += output->fitted;
    }
    return changed;
}

// Until when the log is fitted, for a while.
static void set_horizon(mf_FitProblem *problem, mf_LeastSquares *squares, double until) {
    problem->fitted = until;
    problem->fitted_samples = 0;
    for (uint32_t o = 0; o < problem->output_count; o++) {
        mf_FitOutput *output = &problem->outputs[o];
        const double *time = output->column->time + output->skipped;
        output->fitted = 0;
        while (output->fitted < output->count && time[output->fitted] <= until)
            output->fitted++;
        problem->fitted_samples += output->fitted;
    }
    squares->residual_count = problem->fitted_samples;
}

// Refines `point` for a short first part of the log, which is then extended to all of it.
static mf_Status extend(mf_FitProblem *problem, const mf_LeastSquares *whole, double *point,
                        double *cost, mf_Error *error) {
    mf_LeastSquares part = *whole;
    const double begin = problem->begin, end = problem->fitted;
    mf_Status status = MF_OK;
    for (double share = FIRST_PART; share < 1.0 && status == MF_OK; share *= LONGER) {
        set_horizon(problem, &part, begin + share * (end - begin));
        if (part.residual_count > 4 * problem->unknown_count)
            status = mf_least_squares_refine(&part, point, cost, error);
    }
    set_horizon(problem, &part, end);
    MF_THEN(status, mf_least_squares_refine(whole, point, cost, error));
    return status;
}

// Refines what the search has found; where more than noise remains, again by parts of the log, from
// there and from the model's own values on. A small error of a parameter grows with every contact
// that a robot makes, so that the squares of a long log have many minima.
static mf_Status refine(mf_FitProblem *problem, const mf_LeastSquares *whole, double *x,
                        mf_Error *error) {
    double *other = problem->other, cost, other_cost;
    const size_t size = problem->unknown_count * sizeof *x;
    memcpy(other, x, size);
    MF_TRY(mf_least_squares_refine(whole, x, &cost, error));
    for (uint32_t i = 0; i < 2 && !(cost < NOISE_LEFT * whole->residual_count); i++) {
        for (uint32_t k = 0; k < problem->unknown_count && i == 1; k++)
            other[k] = problem->ranges[k].center;
        MF_TRY(extend(problem, whole, other, &other_cost, error));
        if (other_cost < cost)
            memcpy(x, other, size);
        cost = mf_smaller(cost, other_cost);
    }
    return MF_OK;
}

typedef struct Minimum {
    double *x, *residuals, *columns, *h; // unknowns; residuals and their slopes there; curvature
    double *moved;                       // what a shorter step would move parameters
} Minimum;

// The minimum with the present step, from own->x on, and what it says of the parameters.
static mf_Status settle(mf_FitProblem *problem, const mf_LeastSquares *squares, Minimum *own,
                        mf_Fit *fit, mf_Error *error) {
    double cost;
    MF_TRY(mf_least_squares_refine(squares, own->x, &cost, error));
    MF_TRY(evaluate(problem, own->x, 1, own->residuals, error));
    if (update_noise(problem, own->residuals))
        MF_TRY(mf_least_squares_refine(squares, own->x, &cost, error));
    if (!(cost < 1e300))
        return mf_fail_at(error, MF_BAD_ARGUMENT, problem->log->path, 0, 0,
                          "no candidate could be simulated to the end: the robot faults with the "
                          "log's commands");
    MF_TRY(evaluate(problem, own->x, 1, own->residuals, error));
    MF_TRY(mf_least_squares_slopes(squares, own->x, own->columns, error));
    for (uint32_t i = 0; i < fit->parameter_count; i++)
        fit->parameters[i].value = own->x[i];
    find_curvature(problem, own->residuals, own->columns, own->h);
    return judge(problem, fit, own->h, error);
}

// Runge-Kutta where the motion has it (plan.c: integrator_of) and is stable with these steps.
static mf_Status choose_accuracy(mf_FitProblem *problem, const mf_LeastSquares *squares,
                                 const double *x, double *residuals, mf_Error *error) {
    const mf_ArticulatedConfig *motion = &problem->group.motions.articulated;
    MF_TRY(evaluate(problem, x, 1, residuals, error));
    const double cost = mf_least_squares_sum(squares, x, residuals);
    problem->accuracy = MF_FIT_RUNGE_KUTTA;
    MF_TRY(evaluate(problem, x, 1, residuals, error));
    if (motion->integrator != MF_ARTICULATED_OF_MODEL || problem->model->body_count == 0 ||
        motion->contact_law > MF_CONTACT_LAW_MUJOCO ||
        !(mf_least_squares_sum(squares, x, residuals) < UNSTABLE * cost))
        problem->accuracy = MF_FIT_LIMIT;
    return MF_OK;
}

static mf_Status minimize(mf_FitProblem *problem, const mf_LeastSquares *squares, double *x,
                          mf_Fit *fit, mf_Error *error) {
    const size_t n = problem->unknown_count, m = problem->fitted_samples;
    const uint32_t notes = problem->note_count;
    Minimum own = {.x = x};
    const mf_Array arrays[] = {MF_ARRAY(own.residuals, m), MF_ARRAY(own.columns, n * m),
                               MF_ARRAY(own.h, n * n), MF_ARRAY(own.moved, n)};
    char names[200];
    double most = INFINITY;
    MF_NEED_MEMORY(mf_allocate_arrays(problem->context, arrays, 4), error, "fit");
    mf_Status status = mf_least_squares_search(squares, x, error);
    MF_THEN(status, choose_accuracy(problem, squares, x, own.residuals, error));
    MF_THEN(status, refine(problem, squares, x, error));
    for (uint32_t i = 0; i <= HALVINGS && status == MF_OK && most > MOVED; i++) {
        problem->step *= i == 0 ? 1.0 : 0.5;
        problem->note_count = notes; // of the step before
        status = settle(problem, squares, &own, fit, error);
        MF_THEN(status, check_step(problem, fit, x, own.residuals, own.columns, own.h, own.moved,
                                   &most, names, error));
    }
    // With errors of order 1, as contacts have by any method, all shorter steps move twice as far.
    for (uint32_t i = 0; i < fit->parameter_count && status == MF_OK; i++)
        fit->parameters[i].interval += 2.0 * own.moved[i];
    if (status == MF_OK && names[0] != '\0')
        mf_fit_note(problem,
                    "steps of half the length would move %s, more than the interval: --step %.6g",
                    names, 0.5 * problem->step);
    mf_release(problem->context, own.residuals);
    return status;
}

static mf_Status make_parameters(mf_FitProblem *problem, mf_Fit *fit, mf_Error *error) {
    fit->parameter_count = problem->parameter_count;
    fit->channel_count = problem->output_count;
    fit->parameters = mf_allocate(fit->context, problem->parameter_count, sizeof *fit->parameters);
    MF_NEED_MEMORY(fit->parameters != NULL, error, "fit");
    for (uint32_t i = 0; i < fit->parameter_count; i++) {
        mf_FitParameter *own = &fit->parameters[i];
        mf_fit_name(problem->model, &problem->unknowns[i], own->name);
        own->unit = mf_fit_unit(problem->model, &problem->unknowns[i]);
        own->start = mf_fit_value(problem->model, &problem->unknowns[i]);
        own->lower = problem->ranges[i].lower;
        own->upper = problem->ranges[i].upper;
    }
    return MF_OK;
}

static uint64_t hash_of(const mf_Fit *fit) {
    uint64_t hash = MF_HASH_START;
    for (uint32_t i = 0; i < fit->parameter_count; i++) {
        hash = mf_hash_bytes(hash, &fit->parameters[i].value, sizeof(double));
        hash = mf_hash_bytes(hash, &fit->parameters[i].interval, sizeof(double));
    }
    for (uint32_t i = 0; i < fit->channel_count; i++) {
        hash = mf_hash_bytes(hash, &fit->channels[i].after, sizeof(double));
        hash = mf_hash_bytes(hash, &fit->channels[i].predicted_after, sizeof(double));
    }
    return hash;
}

static mf_Status run(mf_FitProblem *problem, const mf_FitConfig *config, mf_Fit *fit,
                     mf_Error *error) {
    double *x = problem->best, *original = problem->other;
    MF_TRY(prepare(problem, config, fit, error));
    MF_TRY(make_parameters(problem, fit, error));
    for (uint32_t i = 0; i < fit->parameter_count; i++)
        original[i] = fit->parameters[i].start;
    for (uint32_t i = 0; i < problem->unknown_count; i++)
        x[i] = problem->ranges[i].center;
    uint32_t population = config->population;
    if (population == 0) // twice the usual number of the method, for ranges so wide
        population = 8 + (uint32_t)(6.0 * log(fit->parameter_count)) / 2 * 2;
    const uint32_t most = mf_larger_u32(population, 2 * problem->unknown_count);
    if ((double)most * problem->fitted_samples * sizeof(double) > MEMORY)
        return mf_fail_at(error, MF_LIMIT, problem->log->path, 0, 0,
                          "%u samples of %u candidates are too many: a shorter or slower log does",
                          problem->fitted_samples, most);
    const mf_LeastSquares squares = {.context = problem->context,
                                     .unknown_count = problem->unknown_count,
                                     .residual_count = problem->fitted_samples,
                                     .unknowns = problem->ranges,
                                     .population = population,
                                     .generations = config->generations,
                                     .seed = config->seed,
                                     .evaluate = evaluate,
                                     .user = problem};
    MF_TRY(measure(problem, original, false, error));
    MF_TRY(minimize(problem, &squares, x, fit, error));
    MF_TRY(measure(problem, x, true, error));
    note_ends(problem, fit);
    for (uint32_t i = 0; i < fit->parameter_count; i++)
        if (problem->unknowns[i].kind == MF_FIT_DELAY)
            fit->delay = fit->parameters[i].value;
    fit->model = mf_fit_model(problem, x);
    MF_NEED_MEMORY(fit->model != NULL, error, "fit");
    fit->original = problem->model;
    fit->duration = problem->end - problem->begin;
    fit->holdout = problem->end - problem->fitted;
    fit->simulations = problem->simulations;
    fit->notes = problem->notes;
    fit->note_count = problem->note_count;
    fit->hash = hash_of(fit);
    return MF_OK;
}

mf_Status mf_fit(mf_Context *context, mf_SceneFile *file, const mf_Log *log,
                 const mf_FitConfig *config, mf_Fit **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_FitConfig settings = config != NULL ? *config : mf_fit_config();
    MF_NEED(out != NULL, error, "fit: out is NULL");
    *out = NULL;
    MF_NEED(context != NULL && file != NULL && log != NULL, error,
            "fit: context, file or log is NULL");
    MF_TRY(check(file, &settings, error));
    mf_Fit *fit = mf_allocate(context, 1, sizeof *fit);
    MF_NEED_MEMORY(fit != NULL, error, "fit");
    fit->context = context;
    fit->file = file->file;
    mf_Status status = make_problem(context, file, log, &fit->problem, error);
    MF_THEN(status, run(fit->problem, &settings, fit, error));
    if (status != MF_OK)
        mf_fit_destroy(fit);
    else
        *out = fit;
    return status;
}

void mf_fit_destroy(mf_Fit *fit) {
    if (fit == NULL)
        return;
    mf_FitProblem *problem = fit->problem;
    mf_release(fit->context, fit->parameters);
    mf_release(fit->context, fit->channels);
    mf_release(fit->context, fit->model);
    if (problem != NULL) {
        mf_release(fit->context, problem->inputs);
        mf_release(fit->context, problem->outputs);
        mf_release(fit->context, problem->angle);
        mf_model_destroy(problem->loaded);
    }
    mf_release(fit->context, problem);
    mf_release(fit->context, fit);
}
