// Decimal numbers in text files. The syntax is checked here, because strtod also takes nan, inf and
// hexadecimal; its decimal point is that of the locale, so the C locale is set for the call.
#include "model/import/number.h"

#include "math/scalar.h"

#include <locale.h>
#include <stddef.h>
#include <stdlib.h>

static const char *skip_digits(const char *text) {
    while (*text >= '0' && *text <= '9')
        text++;
    return text;
}

// The end of the number at `text`, or NULL.
static const char *scan(const char *text) {
    if (*text == '+' || *text == '-')
        text++;
    const char *whole = text;
    text = skip_digits(text);
    ptrdiff_t digits = text - whole;
    if (*text == '.') {
        const char *fraction = text + 1;
        text = skip_digits(fraction);
        digits += text - fraction;
    }
    if (digits == 0)
        return NULL;
    if (*text == 'e' || *text == 'E') {
        const char *exponent = text + 1;
        if (*exponent == '+' || *exponent == '-')
            exponent++;
        if (skip_digits(exponent) == exponent)
            return NULL;
        text = skip_digits(exponent);
    }
    return text;
}

bool mf_number_parse(const char *text, const char **end, double *out) {
    const char *stop = scan(text);
    if (stop == NULL)
        return false;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return false;
    locale_t old = uselocale(plain);
    double value = strtod(text, NULL);
    uselocale(old);
    freelocale(plain);
    if (!mf_is_finite(value))
        return false;
    *end = stop;
    *out = value;
    return true;
}
