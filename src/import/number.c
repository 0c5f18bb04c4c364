// Decimal numbers in text files. The syntax is checked here, because strtod also takes nan, inf and
// hexadecimal.
#include "import/number.h"

#include "base/plain.h"
#include "math/scalar.h"

#include <stddef.h>

// The end of the number at `text`, or NULL.
static const char *scan(const char *text) {
    if (*text == '+' || *text == '-')
        text++;
    const char *whole = text;
    text = mf_skip_digits(text);
    ptrdiff_t digits = text - whole;
    if (*text == '.') {
        const char *fraction = text + 1;
        text = mf_skip_digits(fraction);
        digits += text - fraction;
    }
    if (digits == 0)
        return NULL;
    if (*text == 'e' || *text == 'E') {
        const char *exponent = text + 1;
        if (*exponent == '+' || *exponent == '-')
            exponent++;
        if (mf_skip_digits(exponent) == exponent)
            return NULL;
        text = mf_skip_digits(exponent);
    }
    return text;
}

bool mf_number_parse(const char *text, const char **end, double *out) {
    const char *stop = scan(text);
    if (stop == NULL)
        return false;
    double value = mf_plain_number(text, NULL);
    if (!mf_is_finite(value))
        return false;
    *end = stop;
    *out = value;
    return true;
}
