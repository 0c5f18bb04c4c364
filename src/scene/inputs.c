// Inputs of robots that follow functions of time: a system of the group that writes them before
// each step. They are written as given; what reads a field limits it.
#include "scene/builder.h"
#include "world/attach.h"
#include "world/systems.h"

#include "math/scalar.h"

#include <mayfly/property.h>

#include <math.h>
#include <string.h>

typedef struct Target { // the components of a field that an input writes
    const mf_SceneInput *input;
    mf_Field *field;
    uint32_t first, count; // [1]
    double scale;          // [1] of the signal to the field's values
} Target;

typedef struct Inputs {
    mf_Time start; // [ns] time 0 of the signals
    uint32_t count;
    Target targets[];
} Inputs;

// ---- signals -----------------------------------------------------------------------------------

static double table_at(const mf_SceneInput *input, double time) {
    const double *times = input->times, *values = input->values;
    const uint32_t last = input->time_count - 1;
    const double length = times[last] - times[0];
    if (input->repeat && time > times[last])
        time = times[0] + fmod(time - times[0], length);
    if (time <= times[0])
        return values[0];
    for (uint32_t i = 1; i <= last; i++) {
        if (time > times[i])
            continue;
        const double share = (time - times[i - 1]) / (times[i] - times[i - 1]);
        return values[i - 1] + share * (values[i] - values[i - 1]);
    }
    return values[last];
}

static double signal_at(const mf_SceneInput *input, double time) {
    double sine, cosine;
    if (input->signal == MF_SIGNAL_TABLE)
        return table_at(input, time);
    mf_sin_cos(2.0 * MF_PI * fmod(time / input->period, 1.0) + input->phase, &sine, &cosine);
    return input->mean + input->amplitude * sine;
}

static void run(const mf_SystemRun *run, void *user) {
    const Inputs *inputs = user;
    const uint32_t first = run->first_block * MF_BLOCK, count = mf_group_count(run->group);
    const uint32_t end = first + run->block_count * MF_BLOCK;
    const mf_Time since = run->time - inputs->start;
    const double time = since > 0 ? mf_time_to_seconds(since) : 0.0;
    for (uint32_t t = 0; t < inputs->count; t++) {
        const Target *target = &inputs->targets[t];
        const double value = signal_at(target->input, time) * target->scale;
        for (uint32_t i = first; i < end && i < count; i++)
            for (uint32_t c = 0; c < target->count; c++)
                mf_field_set(target->field, i, target->first + c, value);
    }
}

// ---- targets -----------------------------------------------------------------------------------

typedef struct Search {
    const mf_SceneInput *input;
    Inputs *inputs; // NULL: targets are counted
    uint32_t count;
    mf_Status status;
    mf_Error error; // without the position in the file
} Search;

static bool take(const mf_Property *property, void *user) {
    Search *search = user;
    if (property->field == NULL || (property->flags & MF_FIELD_INPUT) == 0) {
        search->status = mf_fail(&search->error, MF_BAD_ARGUMENT,
                                 "inputs: %.99s is not an input; mayfly info --fields lists those",
                                 search->input->path);
        return false;
    }
    if (search->inputs != NULL)
        search->inputs->targets[search->inputs->count++] = (Target){
            search->input, property->field, property->first, property->count, property->scale};
    search->count++;
    return true;
}

static mf_Status check_table(const mf_SceneInput *input, mf_Error *error) {
    if (input->signal != MF_SIGNAL_TABLE)
        return MF_OK;
    MF_NEED(input->time_count > 0, error, "inputs: signal.table.times is empty");
    MF_NEED(input->time_count == input->value_count, error,
            "inputs: %u times and %u values, expected one value for each time", input->time_count,
            input->value_count);
    for (uint32_t i = 1; i < input->time_count; i++)
        MF_NEED(input->times[i] > input->times[i - 1], error,
                "inputs: time %g s follows %g s, expected rising times", input->times[i],
                input->times[i - 1]);
    MF_NEED(!input->repeat || input->time_count > 1, error,
            "inputs: a table that repeats has two times or more");
    return MF_OK;
}

// Visits what the inputs of a group write, the same in all its robots.
static mf_Status find_targets(const mf_SceneBuilder *builder, uint32_t index, Search *search) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    mf_Group *group = mf_world_group(builder->scene->world, index);
    for (uint32_t n = 0; n < from->input_count; n++) {
        search->input = &from->inputs[n];
        search->status = check_table(search->input, &search->error);
        if (search->status == MF_OK &&
            mf_property_list_in(group, 0, search->input->path, take, search) == 0) {
            mf_Property property; // for its error
            search->status =
                mf_property_find_in(group, 0, search->input->path, &property, &search->error);
        }
        if (search->status != MF_OK)
            return mf_fail_at(builder->error, MF_BAD_FILE, builder->file->file, search->input->line,
                              search->input->column, "%s", search->error.message);
    }
    return MF_OK;
}

// Names of the fields of all targets, each once, NULL at the end.
static void list_fields(const Inputs *inputs, const char **names) {
    uint32_t count = 0;
    for (uint32_t t = 0; t < inputs->count; t++) {
        const char *name = inputs->targets[t].field->info.name;
        bool listed = false;
        for (uint32_t i = 0; i < count; i++)
            listed = listed || strcmp(names[i], name) == 0;
        if (!listed)
            names[count++] = name;
    }
}

mf_Status mf_scene_add_inputs(const mf_SceneBuilder *builder, uint32_t index) {
    mf_Context *context = builder->context;
    mf_Group *group = mf_world_group(builder->scene->world, index);
    Search search = {0};
    if (builder->file->groups[index].input_count == 0)
        return MF_OK;
    MF_TRY(find_targets(builder, index, &search));
    Inputs *inputs =
        mf_allocate(context, 1, sizeof *inputs + search.count * sizeof *inputs->targets);
    const char **names = mf_allocate(context, search.count + 1, sizeof *names);
    mf_Status status = inputs == NULL || names == NULL
                           ? mf_fail(builder->error, MF_NO_MEMORY, "scene: out of memory")
                           : MF_OK;
    if (status == MF_OK) {
        inputs->start = (mf_Time)mf_scene_settle_steps(builder->scene) * builder->scene->step;
        search.inputs = inputs;
        status = find_targets(builder, index, &search);
    }
    if (status == MF_OK) {
        list_fields(inputs, names);
        mf_SystemConfig system = mf_attach_system("inputs", MF_PHASE_CONTROL, run, inputs);
        system.writes = names;
        system.destroy = mf_attach_release;
        status = mf_group_add_system(group, &system, &search.error);
        if (status != MF_OK) // something else writes the field
            mf_fail_at(builder->error, status, builder->file->file,
                       builder->file->groups[index].inputs->line,
                       builder->file->groups[index].inputs->column, "inputs: %s",
                       search.error.message);
    }
    mf_release(context, names);
    if (status != MF_OK)
        mf_release(context, inputs);
    return status;
}
