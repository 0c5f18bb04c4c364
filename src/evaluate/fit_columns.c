// Columns of a log by their names: what they command, what they measured, where the robot starts.
//
//   JOINT.command, ACTUATOR.control         inputs
//   JOINT.position, JOINT.velocity          outputs, and the joint's state at the start
//   SENSOR, SENSOR.x, SENSOR[2]             outputs of the model's sensors
//   TOPIC.angular_velocity.x, TOPIC.linear_acceleration.x   its only gyro and accelerometer
//   base.position.x, joint.angle[3], ...    fields of recordings; those of the base also its start
#include "evaluate/fit.h"

#include "io/decimal.h"
#include "io/suggest.h"
#include "math/scalar.h"
#include "model/sensor_kind.h"

#include <mayfly/model_fields.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAR 4.0   // [1] of a joint's range: not its unit
#define MOVES 2.0 // [1] standard deviation of a channel that shows motion, over that of its noise

enum { BASE_POSITION, BASE_ORIENTATION, BASE_VELOCITY, BASE_RATE, BASE_FIELDS };
static const char *const base_fields[BASE_FIELDS] = {
    "base.position", "base.orientation", "base.linear_velocity", "base.angular_velocity"};
static const uint32_t base_first[BASE_FIELDS + 1] = {0, 3, 7, 10, 13};

// What a name means.
typedef enum Meaning { UNKNOWN, INPUT, OUTPUT, FIXED_BASE } Meaning;
typedef struct Found {
    Meaning meaning;
    bool target;
    const char *field, *unit;
    uint32_t component;
} Found;

typedef struct Matching {
    mf_FitProblem *problem;
    mf_Group *group;
    const mf_FitConfig *config;
    mf_FitChannel *channels;
    char unknown[160]; // names of columns that mean nothing
    uint32_t unknown_count;
    mf_Error *error;
} Matching;

// ---- names -------------------------------------------------------------------------------------

// The component behind a name, ".y" or "[1]", which is cut off; 0 without one.
static uint32_t take_component(char *name) {
    static const char letters[] = "xyz";
    const size_t length = strlen(name);
    char *bracket = strrchr(name, '[');
    if (bracket != NULL && name[length - 1] == ']') {
        *bracket = '\0';
        return (uint32_t)strtoul(bracket + 1, NULL, 10);
    }
    if (length < 3 || name[length - 2] != '.' || strchr(letters, name[length - 1]) == NULL)
        return 0;
    name[length - 2] = '\0';
    return (uint32_t)(strchr(letters, name[length - 1]) - letters);
}

static bool cut(char *name, const char *end) {
    const size_t length = strlen(name), tail = strlen(end);
    if (length <= tail || strcmp(name + length - tail, end) != 0)
        return false;
    name[length - tail] = '\0';
    return true;
}

static Found find_joint(const mf_Model *model, const char *name) {
    static const struct {
        const char *end, *field, *unit, *slide;
        Meaning meaning;
    } ends[] = {{".position", "joint.angle", "rad", "m", OUTPUT},
                {".velocity", "joint.rate", "rad/s", "m/s", OUTPUT},
                {".command", "joint.target", "rad", "m", INPUT}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char own[MF_FIT_NAME];
        snprintf(own, sizeof own, "%s", name);
        const uint32_t joint =
            cut(own, ends[i].end) ? mf_model_find(model, MF_ITEM_JOINT, own) : MF_NONE;
        if (joint != MF_NONE)
            return (Found){
                ends[i].meaning, true, ends[i].field,
                model->joints[joint].type == MF_JOINT_SLIDE ? ends[i].slide : ends[i].unit, joint};
    }
    return (Found){0};
}

static Found find_actuator(const mf_Model *model, const char *name) {
    char own[MF_FIT_NAME];
    snprintf(own, sizeof own, "%s", name);
    if (!cut(own, ".control") && !cut(own, ".command"))
        return (Found){0};
    const uint32_t index = mf_model_find(model, MF_ITEM_ACTUATOR, own);
    return index != MF_NONE ? (Found){INPUT, false, "actuator.control", "1", index} : (Found){0};
}

static uint32_t only_sensor(const mf_Model *model, mf_SensorType type) {
    uint32_t found = MF_NONE;
    for (uint32_t i = 0; i < model->sensor_count; i++)
        if (model->sensors[i].type == type) {
            if (found != MF_NONE)
                return MF_NONE;
            found = i;
        }
    return found;
}

static Found find_sensor(const mf_Model *model, const char *name) {
    char own[MF_FIT_NAME];
    snprintf(own, sizeof own, "%s", name);
    uint32_t component = 0, index = mf_model_find(model, MF_ITEM_SENSOR, own);
    if (index == MF_NONE) {
        component = take_component(own);
        index = mf_model_find(model, MF_ITEM_SENSOR, own);
    }
    if (index == MF_NONE && cut(own, ".angular_velocity"))
        index = only_sensor(model, MF_SENSOR_GYRO);
    else if (index == MF_NONE && cut(own, ".linear_acceleration"))
        index = only_sensor(model, MF_SENSOR_ACCELEROMETER);
    if (index == MF_NONE || component >= model->sensors[index].count)
        return (Found){0};
    return (Found){OUTPUT, false, "sensor.value", mf_sensor_kind(model->sensors[index].type)->unit,
                   model->sensors[index].address + component};
}

static Found find_field(mf_Group *group, const char *name) {
    static const char *const outputs[] = {
        "joint.angle",           "joint.rate",   "base.position",
        "base.linear_velocity",  "sensor.value", "base.orientation",
        "base.angular_velocity", "joint.target", "actuator.control"};
    char own[MF_FIT_NAME];
    snprintf(own, sizeof own, "%s", name);
    const uint32_t component = strcmp(own, "sensor.value") == 0 ? 0 : take_component(own);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        const mf_Field *field = mf_group_find_field(group, outputs[i]);
        if (strcmp(own, outputs[i]) != 0 || field == NULL || component >= field->components)
            continue;
        const bool base = strncmp(own, "base.", 5) == 0;
        const Meaning meaning = i >= 7                                                 ? INPUT
                                : base && mf_group_model(group)->base == MF_BASE_FIXED ? FIXED_BASE
                                                                                       : OUTPUT;
        return (Found){meaning, i == 7, outputs[i], field->info.unit, component};
    }
    return (Found){0};
}

static Found find_name(mf_Group *group, const char *name) {
    const mf_Model *model = mf_group_model(group);
    Found found = find_joint(model, name);
    if (found.meaning == UNKNOWN)
        found = find_actuator(model, name);
    if (found.meaning == UNKNOWN)
        found = find_sensor(model, name);
    if (found.meaning == UNKNOWN)
        found = find_field(group, name);
    return found;
}

// ---- the map -----------------------------------------------------------------------------------

// "column=name*factor" as pieces. False: it has another form.
static bool split(const char *text, char column[MF_FIT_NAME], char name[MF_FIT_NAME],
                  double *factor) {
    const char *equals = strchr(text, '='), *star = equals != NULL ? strrchr(equals, '*') : NULL;
    if (equals == NULL || equals == text || equals - text >= MF_FIT_NAME)
        return false;
    const size_t length = star != NULL ? (size_t)(star - equals - 1) : strlen(equals + 1);
    *factor = 1.0;
    if (length >= MF_FIT_NAME || (star != NULL && (!mf_decimal_parse(star + 1, factor) ||
                                                   !mf_is_finite(*factor) || *factor == 0.0)))
        return false;
    snprintf(column, MF_FIT_NAME, "%.*s", (int)(equals - text), text);
    snprintf(name, MF_FIT_NAME, "%.*s", (int)length, equals + 1);
    return true;
}

// What the map calls the column; "": it is ignored.
static void mapped(const mf_FitConfig *config, const char *column, char out[MF_FIT_NAME],
                   double *factor) {
    char from[MF_FIT_NAME], to[MF_FIT_NAME];
    double scale;
    snprintf(out, MF_FIT_NAME, "%s", column);
    *factor = 1.0;
    for (uint32_t i = 0; i < config->map_count; i++)
        if (split(config->map[i], from, to, &scale) && strcmp(from, column) == 0) {
            snprintf(out, MF_FIT_NAME, "%s", to);
            *factor = scale;
        }
}

static const char *column_name(const void *list, uint32_t index) {
    const mf_Log *log = list;
    return index < log->column_count ? log->columns[index].name : NULL;
}

static mf_Status check_map(const Matching *own) {
    char near[MF_SUGGESTION];
    char from[MF_FIT_NAME], to[MF_FIT_NAME];
    double factor;
    for (uint32_t i = 0; i < own->config->map_count; i++) {
        const char *text = own->config->map[i];
        bool known = false;
        if (!split(text, from, to, &factor))
            return mf_fail(own->error, MF_BAD_ARGUMENT,
                           "map: expected column=name or column=name*factor, found '%.100s'", text);
        for (uint32_t c = 0; c < own->problem->log->column_count && !known; c++)
            known = strcmp(own->problem->log->columns[c].name, from) == 0;
        if (!known && strcmp(to, "time") != 0)
            return mf_fail_at(own->error, MF_BAD_ARGUMENT, own->problem->log->path,
                              own->problem->log->names, 0, "map: the log has no column '%.90s'%s",
                              from, mf_suggest(from, column_name, own->problem->log, near));
        if (known && to[0] != '\0' && find_name(own->group, to).meaning == UNKNOWN)
            return mf_fail(own->error, MF_BAD_ARGUMENT,
                           "map: '%.90s' names no joint's position, velocity or command, no "
                           "actuator's control, no sensor and no field of the robot",
                           to);
    }
    return MF_OK;
}

// ---- matching ----------------------------------------------------------------------------------

static void add_unknown(Matching *own, const char *name) {
    const size_t at = strlen(own->unknown);
    if (own->unknown_count++ < 4)
        snprintf(own->unknown + at, sizeof own->unknown - at, "%s%.30s", at > 0 ? ", " : "", name);
}

// Refuses a hinge's angles far outside of what the joint or its actuator can do: degrees.
static mf_Status check_unit(const Matching *own, const Found *found, const mf_LogColumn *column,
                            double factor) {
    const mf_Model *model = own->problem->model;
    const bool angle = strcmp(found->field, "joint.angle") == 0;
    if (!angle && strcmp(found->field, "joint.target") != 0)
        return MF_OK;
    const mf_Joint *joint = &model->joints[found->component];
    double most = 0.0, reach = joint->lower < joint->upper
                                   ? mf_larger(mf_abs(joint->lower), mf_abs(joint->upper))
                                   : INFINITY;
    for (uint32_t i = 0; i < model->actuator_count; i++)
        if (model->actuators[i].drive == MF_DRIVE_JOINT &&
            model->actuators[i].joint == found->component && model->actuators[i].bias[1] < 0.0)
            reach = mf_smaller(reach, mf_larger(mf_abs(model->actuators[i].control_lower),
                                                mf_abs(model->actuators[i].control_upper)));
    for (uint32_t i = 0; i < column->count; i++)
        most = mf_larger(most, mf_abs(factor * column->value[i]));
    if (joint->type == MF_JOINT_SLIDE || !(most > FAR * reach))
        return MF_OK;
    return mf_fail_at(
        own->error, MF_BAD_ARGUMENT, own->problem->log->path, own->problem->log->names, 0,
        "%.60s reaches %.4g rad, expected at most %.3g: if it is in degrees, --map "
        "%.60s=%.60s.%s*0.0174533",
        column->name, most, reach, column->name, joint->name, angle ? "position" : "command");
}

static void add_output(Matching *own, const Found *found, const mf_LogColumn *column, double factor,
                       const char *name) {
    mf_FitProblem *problem = own->problem;
    mf_FitChannel *channel = &own->channels[problem->output_count];
    mf_FitOutput *output = &problem->outputs[problem->output_count++];
    *output = (mf_FitOutput){
        .column = column, .factor = factor, .component = found->component, .channel = channel};
    snprintf(output->field, sizeof output->field, "%s", found->field);
    for (uint32_t i = 0; i < problem->model->sensor_count; i++) {
        const mf_Sensor *sensor = &problem->model->sensors[i];
        if (strcmp(found->field, "sensor.value") == 0 && found->component >= sensor->address &&
            found->component - sensor->address < sensor->count)
            output->accelerates =
                (mf_sensor_kind(sensor->type)->flags & MF_SENSES_ACCELERATION) != 0;
    }
    snprintf(channel->name, sizeof channel->name, "%s", name);
    channel->unit = found->unit;
}

// What a column has at the start: the state of a joint or the base.
static void take_start(mf_FitProblem *problem, const Found *found, double value) {
    if (strcmp(found->field, "joint.angle") == 0)
        problem->angle[found->component] = value;
    if (strcmp(found->field, "joint.rate") == 0)
        problem->rate[found->component] = value;
    for (uint32_t i = 0; i < BASE_FIELDS; i++)
        if (strcmp(found->field, base_fields[i]) == 0)
            problem->base[base_first[i] + found->component] = value;
}

static mf_Status match(Matching *own) {
    mf_FitProblem *problem = own->problem;
    bool fixed = false;
    for (uint32_t c = 0; c < problem->log->column_count; c++) {
        const mf_LogColumn *column = &problem->log->columns[c];
        char name[MF_FIT_NAME];
        double factor;
        mapped(own->config, column->name, name, &factor);
        const Found found = name[0] != '\0' ? find_name(own->group, name) : (Found){0};
        if (found.meaning == INPUT || found.meaning == OUTPUT)
            MF_TRY(check_unit(own, &found, column, factor));
        if (found.meaning == INPUT)
            problem->inputs[problem->input_count++] =
                (mf_FitInput){column, factor, found.target, found.component};
        else if (found.meaning == OUTPUT) {
            take_start(problem, &found, factor * column->value[0]);
            if (strcmp(found.field, "base.orientation") != 0)
                add_output(own, &found, column, factor, name);
        } else if (found.meaning == UNKNOWN && name[0] != '\0')
            add_unknown(own, column->name);
        fixed = fixed || found.meaning == FIXED_BASE;
    }
    if (own->unknown_count > 0)
        mf_fit_note(problem,
                    "%u column%s of the log name%s nothing of this robot that can be compared: "
                    "%s%s; --map COLUMN=NAME says what one is",
                    own->unknown_count, own->unknown_count > 1 ? "s" : "",
                    own->unknown_count > 1 ? "" : "s", own->unknown,
                    own->unknown_count > 4 ? ", ..." : "");
    if (fixed)
        mf_fit_note(problem, "columns of the base are not compared: the robot's base is fixed");
    if (problem->input_count == 0)
        return mf_fail_at(
            own->error, MF_BAD_ARGUMENT, problem->log->path, problem->log->names, 0,
            "no column of the log commands a joint: expected one such as %.60s.command%s%s",
            problem->model->joint_count > 0 ? problem->model->joints[0].name : "knee",
            own->unknown_count > 0 ? ", found " : "", own->unknown);
    if (problem->output_count == 0)
        return mf_fail_at(
            own->error, MF_BAD_ARGUMENT, problem->log->path, problem->log->names, 0,
            "no column of the log can be compared: expected one such as %.60s.position, or named "
            "as a sensor of the robot%s%s",
            problem->model->joint_count > 0 ? problem->model->joints[0].name : "knee",
            own->unknown_count > 0 ? ", found " : "", own->unknown);
    return MF_OK;
}

// ---- times and noise ---------------------------------------------------------------------------

static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The standard deviation of white noise: of third to sixth differences, whose variance is 20 to 924
// times as large; by their median, which steps of the signal do not change. The least counts: a
// signal that moves fast adds to it, the more the lower the order.
static double noise_of(const double *values, uint32_t count, double *scratch) {
    static const double gain[] = {[3] = 20.0, [4] = 70.0, [5] = 252.0, [6] = 924.0}; // (2k over k)
    double least = INFINITY;
    memcpy(scratch, values, count * sizeof *scratch);
    for (uint32_t order = 1; order <= 6 && order < count; order++) {
        double *sorted = scratch + count;
        for (uint32_t i = 0; i + order < count; i++) {
            scratch[i] = scratch[i + 1] - scratch[i];
            sorted[i] = mf_abs(scratch[i]);
        }
        qsort(sorted, count - order, sizeof *sorted, compare_numbers);
        if (order >= 3)
            least =
                mf_smaller(least, sorted[(count - order) / 2] / (0.6745 * mf_sqrt(gain[order])));
    }
    return mf_is_finite(least) ? least : 0.0;
}

static mf_Status find_noise(mf_FitProblem *problem, mf_FitOutput *output, mf_Error *error) {
    const mf_LogColumn *column = output->column;
    const uint32_t count = column->count;
    double least = column->value[0], most = least, mean = 0.0, square = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        least = mf_smaller(least, column->value[i]);
        most = mf_larger(most, column->value[i]);
        mean += column->value[i] / count;
    }
    for (uint32_t i = 0; i < count; i++)
        square += (column->value[i] - mean) * (column->value[i] - mean) / count;
    double *scratch = mf_allocate(problem->context, 2 * (size_t)count, sizeof *scratch);
    MF_NEED_MEMORY(scratch != NULL, error, "fit");
    const double noise = noise_of(column->value, count, scratch);
    mf_release(problem->context, scratch);
    problem->moves = problem->moves || mf_sqrt(square) > MOVES * noise;
    output->least = mf_larger(1e-5 * (most - least), 1e-12) * mf_abs(output->factor);
    output->channel->noise = mf_larger(noise * mf_abs(output->factor), output->least);
    output->weight = 1.0 / output->channel->noise;
    return MF_OK;
}

static void count_samples(mf_FitProblem *problem) {
    for (uint32_t o = 0; o < problem->output_count; o++) {
        mf_FitOutput *output = &problem->outputs[o];
        const mf_LogColumn *column = output->column;
        for (uint32_t i = 0; i < column->count; i++) {
            output->skipped += column->time[i] < problem->begin;
            output->count += column->time[i] >= problem->begin;
            output->fitted +=
                column->time[i] >= problem->begin && column->time[i] <= problem->fitted;
        }
        output->channel->samples = output->fitted;
        output->channel->predicted = output->count - output->fitted;
        problem->fitted_samples += output->fitted;
        problem->samples += output->count;
    }
}

mf_Status mf_fit_columns(mf_FitProblem *problem, mf_Group *group, const mf_FitConfig *config,
                         mf_FitChannel **channels, mf_Error *error) {
    const mf_Model *model = problem->model;
    const uint32_t columns = problem->log->column_count;
    Matching own = {.problem = problem, .group = group, .config = config, .error = error};
    problem->inputs = mf_allocate(problem->context, columns, sizeof *problem->inputs);
    problem->outputs = mf_allocate(problem->context, columns, sizeof *problem->outputs);
    problem->angle = mf_allocate(problem->context, 2 * model->joint_count, sizeof(double));
    own.channels = *channels = mf_allocate(problem->context, columns, sizeof **channels);
    MF_NEED_MEMORY(problem->inputs != NULL && problem->outputs != NULL && problem->angle != NULL &&
                       *channels != NULL,
                   error, "fit");
    problem->rate = problem->angle + model->joint_count;
    for (uint32_t i = 0; i < 2 * model->joint_count; i++)
        problem->angle[i] = (double)NAN;
    for (uint32_t i = 0; i < 13; i++)
        problem->base[i] = (double)NAN;
    MF_TRY(check_map(&own));
    MF_TRY(match(&own));
    problem->begin = INFINITY;
    problem->end = -INFINITY;
    for (uint32_t o = 0; o < problem->output_count; o++) {
        const mf_LogColumn *column = problem->outputs[o].column;
        problem->begin = mf_smaller(problem->begin, column->time[0]);
        problem->end = mf_larger(problem->end, column->time[column->count - 1]);
        MF_TRY(find_noise(problem, &problem->outputs[o], error));
    }
    const double duration = problem->end - problem->begin;
    problem->fitted = problem->end - config->holdout * duration;
    if (!(duration / problem->step >= 10.0))
        return mf_fail_at(error, MF_BAD_ARGUMENT, problem->log->path, problem->log->last, 0,
                          "the log lasts %.3g s: too short for steps of %.3g s, expected at least "
                          "10 of them; times are in seconds",
                          duration, problem->step);
    if (duration / problem->step > 1e8)
        return mf_fail_at(error, MF_LIMIT, problem->log->path, 0, 0,
                          "the log lasts %.3g s, more than 1e8 steps", duration);
    count_samples(problem);
    return MF_OK;
}
