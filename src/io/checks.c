// Checks shared by all file formats: intervals, names, and keys of the ground.
#include "base/plain.h"
#include "io/decimal.h"
#include "io/reader.h"

#include <stdarg.h>
#include <string.h>

mf_Status mf_reader_refuse(const mf_Reader *reader, const char *path, const char *other,
                           const char *format, ...) {
    char message[sizeof((mf_Error *)NULL)->message];
    va_list arguments;
    va_start(arguments, format);
    mf_plain_format_list(message, sizeof message, format, arguments);
    va_end(arguments);
    return mf_yaml_fail(reader->tree, mf_reader_blame(reader, path, other), false, MF_BAD_FILE,
                        reader->error, "%s%s: %s", reader->prefix, path, message);
}

mf_Status mf_reader_check_multiple(const mf_Reader *reader, const char *path, mf_Time interval,
                                   const char *of, mf_Time unit) {
    char step[MF_DECIMAL_TEXT], found[MF_DECIMAL_TEXT];
    if (interval % unit == 0)
        return MF_OK;
    return mf_reader_refuse(reader, path, of, "expected a multiple of %s = %s s, found %s s", of,
                            mf_decimal_write_time(unit, step),
                            mf_decimal_write_time(interval, found));
}

mf_Status mf_reader_check_name(const mf_Reader *reader, const char *name) {
    if (name[0] != '\0' && strpbrk(name, "./ ") == NULL && strlen(name) <= 80)
        return MF_OK;
    return mf_reader_refuse(reader, "name", NULL,
                            "expected 1 to 80 characters without dots, slashes and blanks");
}

mf_Status mf_reader_check_ground(const mf_Reader *reader, bool image,
                                 const mf_TerrainGenerator *generator) {
    uint32_t wrong = image ? MF_KEY_SHAPE : MF_KEY_IMAGE;
    for (uint32_t i = 0; i < mf_keys_count(reader->table); i++) {
        const mf_Key *key = mf_keys_at(reader->table, i);
        const mf_YamlNode *node = key->flags & wrong ? mf_reader_find(reader, key->path) : NULL;
        if (node != NULL) // refused rather than silently ignored
            return mf_yaml_fail(reader->tree, node, true, MF_BAD_FILE, reader->error,
                                image ? "%s: not used with ground.file"
                                      : "%s: only used with ground.file, which is not given",
                                key->path);
    }
    const double quarter_rotation = 1.5707963267948966;
    double slope = generator->amplitude;
    if (image || generator->shape != MF_TERRAIN_SLOPE ||
        (slope > -quarter_rotation && slope < quarter_rotation))
        return MF_OK;
    char found[MF_DECIMAL_TEXT];
    return mf_reader_refuse(reader, "ground.amplitude", "ground.shape",
                            "expected a slope between -pi/2 and pi/2 rad, found %s",
                            mf_decimal_write(slope, found));
}
