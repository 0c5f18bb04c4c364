// Host code of sensor signals: clocks, the fields of delayed samples and biases, and the sample
// that is measured or becomes readable in a step (see signal.h).
//
// States are numbered by the steps before them. With a rate, sample k is the first state at or
// after tick k of the rate (mf_rate_ticks); where a tick or more falls into each step, state k. The
// sample of state s can be read from state s + lag on, lag = delay / step rounded up, and is stored
// at position k mod slots of the ring, which has space for the samples of lag steps.
#include "sense/signal.h"
#include "model/points.h"
#include "math/kernel_table.h"

#include "math/scalar.h"
#include "world/attach.h"

#include <stdio.h>

enum { RING_MOST = 1 << 24 }; // [1] most delayed values per robot

typedef struct Clock {
    mf_Rate rate;
    bool every; // due in each step
    uint64_t lag;
    uint32_t slots;
    double interval; // [s] from sample to sample
} Clock;

struct mf_SignalSet {
    mf_SignalBatch batch;
    mf_SignalFn run, run_one;
    mf_Field *raw, *bias, *ring, *fault_count; // the first three may be NULL
    mf_Time step;
    uint64_t hash;
    uint32_t clock_count;
    Clock clocks[MF_SIGNAL_CLOCKS];
    mf_SignalTarget *targets; // [spec] after the channels
};

// ---- clocks ------------------------------------------------------------------------------------

static Clock make_clock(mf_Rate rate, mf_Time delay, mf_Time step) {
    Clock clock = {.rate = rate, .interval = mf_time_to_seconds(step)};
    clock.lag = (uint64_t)((delay + step - 1) / step);
    // A tick or more in each step: rate step >= 1.
    clock.every = rate.numerator == 0 ||
                  (__int128)rate.numerator * step >= (__int128)rate.denominator * MF_SECOND;
    uint64_t slots = clock.lag;
    if (!clock.every) {
        clock.interval = (double)rate.denominator / (double)rate.numerator;
        uint64_t window = clock.lag * (uint64_t)step; // [ns]
        unsigned __int128 ticks = (unsigned __int128)window * (uint64_t)rate.numerator;
        unsigned __int128 unit = (unsigned __int128)rate.denominator * (uint64_t)MF_SECOND;
        slots = (uint64_t)((ticks + unit - 1) / unit);
    } else {
        clock.rate = (mf_Rate){0, 0};
    }
    clock.slots = slots > RING_MOST ? RING_MOST + 1 : (uint32_t)slots;
    return clock;
}

static bool same_clock(const Clock *a, const Clock *b) {
    __int128 left = (__int128)a->rate.numerator * b->rate.denominator;
    __int128 right = (__int128)b->rate.numerator * a->rate.denominator;
    return a->every == b->every && a->lag == b->lag && left == right;
}

// The set's clock equal to this one, added if missing; MF_SIGNAL_CLOCKS: no space.
static uint32_t find_clock(mf_SignalSet *set, const Clock *clock) {
    uint32_t i = 0;
    while (i < set->clock_count && !same_clock(&set->clocks[i], clock))
        i++;
    if (i == set->clock_count && i < MF_SIGNAL_CLOCKS)
        set->clocks[set->clock_count++] = *clock;
    return i;
}

static bool is_due(const Clock *clock, mf_Time step, uint64_t tick) {
    return clock->every || mf_rate_due(clock->rate, (mf_Time)tick * step, step);
}

static uint32_t slot_of(const Clock *clock, mf_Time step, uint64_t tick) {
    uint64_t sample =
        clock->every ? tick : (uint64_t)mf_rate_ticks(clock->rate, (mf_Time)tick * step) - 1;
    return (uint32_t)(sample % clock->slots);
}

bool mf_signal_set_measure(const mf_SignalSet *set, uint64_t tick, mf_SignalMoments *out) {
    out->tick = tick;
    out->due = 0;
    out->any = false;
    for (uint32_t i = 0; i < set->clock_count; i++) {
        const Clock *clock = &set->clocks[i];
        mf_SignalMoment *moment = &out->of[i];
        *moment = (mf_SignalMoment){.due = is_due(clock, set->step, tick)};
        if (clock->lag > 0) {
            moment->shows = tick >= clock->lag && is_due(clock, set->step, tick - clock->lag);
            if (moment->shows)
                moment->read = slot_of(clock, set->step, tick - clock->lag);
            if (moment->due)
                moment->write = slot_of(clock, set->step, tick);
        }
        out->due |= (uint64_t)moment->due << i;
        out->any |= moment->due || moment->shows;
    }
    return out->any;
}

// ---- channels ----------------------------------------------------------------------------------

static bool counts(const double limits[2]) {
    return limits[0] < limits[1];
}

static void fill_converter(mf_SignalChannel *out, const mf_Signal *signal) {
    out->converts = counts(signal->range);
    out->rounds = signal->bits > 0 || signal->resolution > 0.0;
    out->low = signal->range[0];
    out->high = signal->range[1];
    out->step = signal->resolution;
    if (signal->bits > 0) {
        out->step = (out->high - out->low) / (double)(UINT32_C(1) << signal->bits);
        out->origin = out->low;
        out->high -= out->step;
    }
}

static mf_SignalChannel make_channel(const mf_SignalSpec *spec, const Clock *clock) {
    const mf_Signal *signal = spec->signal;
    mf_SignalChannel out = {.count = spec->count,
                            .stream = spec->stream,
                            .reading = spec->first,
                            .slots = clock->lag > 0 ? clock->slots : 0,
                            .unit = spec->unit,
                            .noise = signal->noise,
                            .noisy = signal->noise > 0.0,
                            .bias_size = signal->bias,
                            .wanders = signal->drift > 0.0,
                            .biased = signal->bias > 0.0 || signal->drift > 0.0,
                            .drift = signal->drift * mf_sqrt(clock->interval)};
    if (spec->unit) // directions and rotations are normalized instead
        return out;
    out.saturates = counts(signal->saturation);
    out.saturation[0] = signal->saturation[0];
    out.saturation[1] = signal->saturation[1];
    fill_converter(&out, signal);
    return out;
}

static bool does_nothing(const mf_SignalChannel *c) {
    return c->slots == 0 && !c->saturates && !c->noisy && !c->biased && !c->converts && !c->rounds;
}

typedef struct Rows {
    uint32_t raw, bias;
    uint64_t ring;
} Rows;

// Sets up clocks, components and channels.
static mf_Status fill_set(mf_SignalSet *set, mf_SignalChannel *channels, const char *name,
                          mf_Rate rate, const mf_SignalSpec *specs, uint32_t count, Rows *rows,
                          mf_Error *error) {
    for (uint32_t i = 0; i < count; i++) {
        const mf_Signal *signal = specs[i].signal;
        Clock clock =
            make_clock(signal->rate.numerator > 0 ? signal->rate : rate, signal->delay, set->step);
        uint32_t number = find_clock(set, &clock);
        MF_CHECK(number != MF_SIGNAL_CLOCKS, error, MF_LIMIT,
                 "%s: at most %d different pairs of rate and delay", name, MF_SIGNAL_CLOCKS);
        mf_SignalChannel channel = make_channel(&specs[i], &clock);
        set->targets[i] = (mf_SignalTarget){.clock = number, .row = specs[i].first};
        set->hash = mf_signal_hash(set->hash, signal);
        if (!specs[i].always && does_nothing(&channel))
            continue;
        channel.clock = number;
        channel.raw = rows->raw;
        channel.bias = rows->bias;
        channel.ring = (uint32_t)rows->ring;
        set->targets[i].treated = true;
        set->targets[i].row = rows->raw;
        rows->raw += channel.count;
        rows->bias += channel.biased ? channel.count : 0;
        rows->ring += (uint64_t)channel.slots * channel.count;
        if (rows->ring > RING_MOST)
            return mf_fail(error, MF_LIMIT,
                           "%s: the delays require more than %d stored values per robot", name,
                           RING_MOST);
        channels[set->batch.channel_count++] = channel;
    }
    return MF_OK;
}

// ---- fields ------------------------------------------------------------------------------------

static mf_Status add_field(mf_Group *group, const char *name, const char *part, uint32_t count,
                           uint32_t flags, const char *description, mf_Field **out,
                           mf_Error *error) {
    char text[300];
    *out = NULL;
    if (count == 0)
        return MF_OK;
    snprintf(text, sizeof text, "%.250s.%s", name, part);
    const mf_FieldInfo info = {text, "1", "", MF_REAL, MF_FIXED_COUNT, 1, flags, description};
    return mf_attach_field(group, &info, count, out, error);
}

static mf_Status add_fields(mf_SignalSet *set, mf_Group *group, const char *name, const Rows *rows,
                            mf_Error *error) {
    mf_SignalBatch *batch = &set->batch;
    MF_TRY(add_field(group, name, "raw", rows->raw, MF_FIELD_OUTPUT,
                     "true values of the last sample", &set->raw, error));
    MF_TRY(add_field(group, name, "bias", rows->bias, MF_FIELD_STATE,
                     "present bias of the readings", &set->bias, error));
    MF_TRY(add_field(group, name, "ring", (uint32_t)rows->ring, MF_FIELD_STATE,
                     "samples that cannot be read yet", &set->ring, error));
    batch->raw_components = rows->raw;
    batch->bias_components = rows->bias;
    batch->ring_components = (uint32_t)rows->ring;
    batch->raw = set->raw == NULL ? NULL : set->raw->data;
    batch->bias = set->bias == NULL ? NULL : set->bias->data;
    batch->ring = set->ring == NULL ? NULL : set->ring->data;
    return MF_OK;
}

// ---- creation ----------------------------------------------------------------------------------

static void choose_kernels(mf_SignalSet *set, const mf_Group *group, mf_Isa isa) {
    static const mf_SignalFn runs[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_signal_run);
    bool precise = mf_group_config_of(group)->double_precision;
    set->run = runs[mf_kernel_row(isa)][precise];
    set->run_one = runs[mf_kernel_row_single(isa)][precise];
}

mf_Status mf_signal_set_create(mf_Group *group, const char *name, mf_Field *readings, mf_Rate rate,
                               const mf_SignalSpec *specs, uint32_t count, mf_SignalSet **out,
                               mf_Error *error) {
    mf_World *world = mf_group_world(group);
    mf_Context *context = mf_world_context(world);
    size_t bytes = count * (sizeof(mf_SignalChannel) + sizeof(mf_SignalTarget));
    Rows rows = {0};
    *out = NULL;
    mf_SignalSet *set = mf_allocate(context, 1, sizeof *set + bytes);
    MF_NEED_MEMORY(set != NULL, error, name);
    mf_SignalChannel *channels = (mf_SignalChannel *)(set + 1);
    set->targets = (mf_SignalTarget *)(channels + count);
    set->step = mf_world_config_of(world)->step;
    set->hash = MF_HASH_START;
    set->batch.channels = channels;
    set->batch.readings = readings->data;
    set->batch.readings_components = readings->components;
    set->batch.seed = mf_world_config_of(world)->seed;
    set->batch.fault = mf_group_find_field(group, "fault.word")->data;
    set->fault_count = mf_group_find_field(group, "fault.count");
    choose_kernels(set, group, mf_world_isa(world));
    mf_Status status = fill_set(set, channels, name, rate, specs, count, &rows, error);
    MF_THEN(status, add_fields(set, group, name, &rows, error));
    if (status == MF_OK)
        *out = set;
    else
        mf_release(context, set);
    return status;
}

void mf_signal_set_destroy(mf_Context *context, mf_SignalSet *set) {
    mf_release(context, set);
}

mf_SignalTarget mf_signal_set_target(const mf_SignalSet *set, uint32_t spec) {
    return set->targets[spec];
}

mf_Field *mf_signal_set_raw(const mf_SignalSet *set) {
    return set->raw;
}

uint32_t mf_signal_set_fields(const mf_SignalSet *set, const char *names[3]) {
    const mf_Field *fields[] = {set->raw, set->bias, set->ring};
    uint32_t count = 0;
    for (int i = 0; i < 3; i++)
        if (fields[i] != NULL)
            names[count++] = fields[i]->info.name;
    return count;
}

uint64_t mf_signal_set_hash(const mf_SignalSet *set, uint64_t hash) {
    return mf_hash_bytes(hash, &set->hash, sizeof set->hash);
}

mf_Rate mf_signal_set_rate(const mf_SignalSet *set) {
    const Clock *clock = &set->clocks[0];
    return set->clock_count == 1 && clock->lag == 0 ? clock->rate : (mf_Rate){0, 0};
}

// ---- running -----------------------------------------------------------------------------------

void mf_signal_set_run(const mf_SignalSet *set, const mf_SystemRun *run,
                       const mf_SignalMoments *moments) {
    if (set->batch.channel_count == 0)
        return;
    mf_SignalRun work = {.first = run->first_block,
                         .count = run->block_count,
                         .moments = moments,
                         .tick = moments->tick};
    set->run(&set->batch, &work);
}

void mf_signal_set_start(const mf_SignalSet *set, uint32_t instance) {
    if (set->batch.channel_count == 0)
        return;
    mf_SignalRun work = {.first = instance / MF_BLOCK,
                         .count = 1,
                         .lane = instance % MF_BLOCK,
                         .tick = (uint64_t)mf_field_get(set->fault_count, instance, 0)};
    set->run_one(&set->batch, &work);
}
