// Signals of sensors: checks of their settings, and their effect on a single value.
// src/sense/signal_kernel.c does the same in lanes.
#include "math/scalar.h"
#include "model/points.h"
#include "base/floats.h"
#include "model/fields.h"

static bool counts(const double limits[2]) {
    return limits[0] < limits[1];
}

static mf_Status check_limits(const double limits[2], const char *what, const char *name,
                              mf_Error *error) {
    bool none = limits[0] == 0.0 && limits[1] == 0.0;
    bool finite = mf_is_finite(limits[0]) && mf_is_finite(limits[1]);
    if (none || (finite && counts(limits)))
        return MF_OK;
    return mf_fail(error, MF_BAD_ARGUMENT,
                   "%s: %s, expected two numbers, the smaller first, found %g and %g", what, name,
                   limits[0], limits[1]);
}

static mf_Status check_numbers(const mf_Signal *signal, const char *what, mf_Error *error) {
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"noise", signal->noise},
                   {"bias", signal->bias},
                   {"drift", signal->drift},
                   {"resolution", signal->resolution}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!(numbers[i].value >= 0.0 && mf_is_finite(numbers[i].value)))
            return mf_fail(error, MF_BAD_ARGUMENT, "%s: %s, expected a number >= 0, found %g", what,
                           numbers[i].name, numbers[i].value);
    return MF_OK;
}

mf_Status mf_signal_check(const mf_Signal *signal, const char *what, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(signal != NULL, error, "mf_signal_check: signal is NULL");
    MF_TRY(check_limits(signal->saturation, what, "saturation", error));
    MF_TRY(check_limits(signal->range, what, "range", error));
    MF_TRY(check_numbers(signal, what, error));
    bool often = signal->rate.numerator == 0 && signal->rate.denominator == 0;
    MF_NEED(often || (signal->rate.numerator > 0 && signal->rate.denominator > 0), error,
            "%s: rate is %lld/%lld, need two positive numbers", what,
            (long long)signal->rate.numerator, (long long)signal->rate.denominator);
    if (signal->delay < 0 || signal->delay > 1000 * MF_SECOND)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: delay, expected 0 to 1000 s, found %g s", what,
                       mf_time_to_seconds(signal->delay));
    MF_NEED(signal->bits <= 24, error, "%s: bits, expected 0 to 24, found %u", what, signal->bits);
    if (signal->bits > 0 && !counts(signal->range))
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: %u bits need a range", what, signal->bits);
    if (signal->bits > 0 && signal->resolution > 0.0)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: bits and a resolution, expected one of them",
                       what);
    return MF_OK;
}

bool mf_signal_is_plain(const mf_Signal *signal) {
    if (signal == NULL)
        return false;
    return signal->rate.numerator == 0 && signal->delay == 0 && !counts(signal->saturation) &&
           signal->noise == 0.0 && signal->bias == 0.0 && signal->drift == 0.0 &&
           !counts(signal->range) && signal->resolution == 0.0;
}

uint64_t mf_signal_hash(uint64_t hash, const mf_Signal *signal) {
    return signal != NULL ? mf_item_hash(hash, MF_ITEM_SIGNAL, signal, 1) : 0;
}

static double clamp(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

double mf_signal_convert(const mf_Signal *signal, double value) {
    if (signal == NULL)
        return 0;
    double low = signal->range[0], high = signal->range[1];
    if (counts(signal->saturation))
        value = clamp(value, signal->saturation[0], signal->saturation[1]);
    if (!counts(signal->range))
        return signal->resolution > 0.0
                   ? signal->resolution * mf_floor(value / signal->resolution + 0.5)
                   : value;
    if (signal->bits == 0 && signal->resolution == 0.0)
        return clamp(value, low, high);
    // Whole steps from the lower end (bits) or from 0.
    double step = signal->resolution, origin = 0.0;
    if (signal->bits > 0) {
        step = (high - low) / (double)(UINT32_C(1) << signal->bits);
        origin = low;
        high -= step;
    }
    value = clamp(value, low, high);
    return clamp(origin + step * mf_floor((value - origin) / step + 0.5), low, high);
}
