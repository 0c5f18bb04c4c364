// Files of printed trusses: binary STL in millimeters, the bill of materials as CSV and JSON, and
// 3MF, which is XML in a ZIP archive; its entries are stored without compression
// (APPNOTE.TXT 6.3.3, 3MF Core Specification 1.2.3).
#include <mayfly/print.h>

#include "base/hash.h"
#include "base/floats.h"
#include "base/text.h"
#include "math/scalar.h"

#include <stdio.h>
#include <string.h>

#define MILLIMETERS 1000.0

static void put_number(mf_Text *text, uint64_t value, int bytes) {
    char out[8];
    for (int i = 0; i < bytes; i++)
        out[i] = (char)(value >> (8 * i) & 0xff);
    mf_text_put_bytes(text, out, (size_t)bytes);
}

// Releases the text.
static mf_Status save(mf_Text *text, const char *folder, const char *name, mf_Error *error) {
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length >= 0 && (size_t)length < sizeof path)
        return mf_text_save(text, path, "print", error);
    mf_text_free(text);
    return mf_fail(error, MF_LIMIT, "print: the path %.64s... is too long", folder);
}

// ---- STL ---------------------------------------------------------------------------------------

static void put_real(mf_Text *text, double value) {
    const float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    put_number(text, bits, 4);
}

static void put_facet(mf_Text *text, const mf_PrintSolid *solid, const uint32_t corners[3]) {
    const double *at[3];
    double a[3], b[3], normal[3];
    for (int i = 0; i < 3; i++)
        at[i] = &solid->vertices[3 * (size_t)corners[i]];
    mf_vec3_sub(a, at[1], at[0]);
    mf_vec3_sub(b, at[2], at[0]);
    mf_vec3_cross(normal, a, b);
    mf_vec3_scale(normal, normal, 1.0 / mf_vec3_length(normal));
    for (int i = 0; i < 3; i++)
        put_real(text, normal[i]);
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 3; i++)
            put_real(text, at[c][i] * MILLIMETERS);
    }
    put_number(text, 0, 2);
}

static mf_Status save_solid(const mf_Print *print, const mf_PrintSolid *solid, const char *folder,
                            const char *name, mf_Error *error) {
    char file[64], head[80] = "Mayfly, millimeters";
    snprintf(file, sizeof file, "%s.stl", name);
    mf_Text text = mf_text_begin(print->context);
    mf_text_put_bytes(&text, head, sizeof head);
    put_number(&text, solid->triangle_count, 4);
    for (uint32_t t = 0; t < solid->triangle_count; t++)
        put_facet(&text, solid, &solid->triangles[3 * (size_t)t]);
    return save(&text, folder, file, error);
}

// ---- bill of materials -------------------------------------------------------------------------

static uint32_t copies_of(const mf_Print *print, uint32_t part) {
    uint32_t copies = 0;
    for (uint32_t i = 0; i < print->part_count; i++)
        copies += print->parts[i].same_as == part;
    return copies;
}

static void put_bars(mf_Text *text, const mf_Print *print, uint32_t part, const char *between) {
    const char *before = "";
    for (uint32_t i = 0; i < print->part_count; i++) {
        if (print->parts[i].same_as != part)
            continue;
        mf_text_format(text, "%s%u", before, print->parts[i].bar);
        before = between;
    }
}

static mf_Status save_csv(const mf_Print *print, const char *folder, mf_Error *error) {
    mf_Text text = mf_text_begin(print->context);
    mf_text_put(&text, "part,number,bars,length_mm,diameter_mm,sockets,mass_g,material\n");
    for (uint32_t i = 0; i < print->part_count; i++) {
        const mf_PrintPart *part = &print->parts[i];
        if (part->same_as != i)
            continue;
        mf_text_format(&text, "%s,%u,", part->name, copies_of(print, i));
        put_bars(&text, print, i, " ");
        mf_text_format(&text, ",%.2f,%.2f,%u,%.3f,%s\n", part->length * MILLIMETERS,
                       part->diameter * MILLIMETERS, part->sockets, part->mass * 1e3,
                       print->material);
    }
    const mf_PrintConfig *c = &print->config;
    if (print->actuator_count > 0)
        mf_text_format(&text, "linear actuator (bought),%u,,%.2f,%.2f,0,,\n", print->actuator_count,
                       (c->body_length + c->rod_length) * MILLIMETERS,
                       c->body_diameter * MILLIMETERS);
    return save(&text, folder, "parts.csv", error);
}

static mf_Status save_json(const mf_Print *print, const char *folder, mf_Error *error) {
    const mf_PrintConfig *c = &print->config;
    mf_Text text = mf_text_begin(print->context);
    mf_text_format(&text,
                   "{\"material\": \"%s\", \"mass\": %.9g, \"tilt\": %.9g, \"clearance\": %.9g, "
                   "\"seat_clearance\": %.9g, \"actuators\": %u, \"parts\": [",
                   print->material, print->material_mass, print->tilt, c->clearance,
                   c->seat_clearance, print->actuator_count);
    const char *before = "\n  ";
    for (uint32_t i = 0; i < print->part_count; i++) {
        const mf_PrintPart *part = &print->parts[i];
        if (part->same_as != i)
            continue;
        mf_text_format(&text, "%s{\"part\": \"%s\", \"number\": %u, \"bars\": [", before,
                       part->name, copies_of(print, i));
        put_bars(&text, print, i, ", ");
        mf_text_format(&text,
                       "], \"length\": %.9g, \"diameter\": %.9g, \"box\": [%.9g, %.9g, %.9g], "
                       "\"sockets\": %u, \"volume\": %.9g, \"mass\": %.9g}",
                       part->length, part->diameter, part->box[0], part->box[1], part->box[2],
                       part->sockets, part->volume, part->mass);
        before = ",\n  ";
    }
    mf_text_put(&text, "\n]}\n");
    return save(&text, folder, "parts.json", error);
}

mf_Status mf_print_save_stl(const mf_Print *print, const char *folder, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(print != NULL && folder != NULL, error, "print: an argument is NULL");
    for (uint32_t i = 0; i < print->part_count; i++) {
        const mf_PrintPart *part = &print->parts[i];
        if (part->same_as == i)
            MF_TRY(save_solid(print, &part->solid, folder, part->name, error));
    }
    MF_TRY(save_solid(print, &print->assembly, folder, "assembly", error));
    MF_TRY(save_csv(print, folder, error));
    return save_json(print, folder, error);
}

// ---- 3MF ---------------------------------------------------------------------------------------

static void put_object(mf_Text *text, const mf_PrintPart *part, uint32_t id) {
    const mf_PrintSolid *solid = &part->solid;
    mf_text_format(text, "<object id=\"%u\" type=\"model\" name=\"%s\"><mesh><vertices>\n", id,
                   part->name);
    for (uint32_t v = 0; v < solid->vertex_count; v++) {
        const double *at = &solid->vertices[3 * (size_t)v];
        mf_text_format(text, "<vertex x=\"%.6f\" y=\"%.6f\" z=\"%.6f\"/>\n", at[0] * MILLIMETERS,
                       at[1] * MILLIMETERS, at[2] * MILLIMETERS);
    }
    mf_text_put(text, "</vertices><triangles>\n");
    for (uint32_t t = 0; t < solid->triangle_count; t++) {
        const uint32_t *c = &solid->triangles[3 * (size_t)t];
        mf_text_format(text, "<triangle v1=\"%u\" v2=\"%u\" v3=\"%u\"/>\n", c[0], c[1], c[2]);
    }
    mf_text_put(text, "</triangles></mesh></object>\n");
}

// Parts beside each other along y, 5 mm apart.
static void put_model(mf_Text *text, const mf_Print *print) {
    double y = 0.0;
    mf_text_put(text,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model unit=\"millimeter\" "
                "xml:lang=\"en-US\" xmlns=\"http://schemas.microsoft.com/3dmanufacturing/core/"
                "2015/02\">\n<metadata name=\"Application\">Mayfly</metadata>\n<resources>\n");
    for (uint32_t i = 0; i < print->part_count; i++) {
        if (print->parts[i].same_as == i)
            put_object(text, &print->parts[i], i + 1);
    }
    mf_text_put(text, "</resources>\n<build>\n");
    for (uint32_t i = 0; i < print->part_count; i++) {
        mf_text_format(text, "<item objectid=\"%u\" transform=\"1 0 0 0 1 0 0 0 1 0 %.6f 0\"/>\n",
                       print->parts[i].same_as + 1, y * MILLIMETERS);
        y += print->parts[i].box[1] + 0.005;
    }
    mf_text_put(text, "</build>\n</model>\n");
}

typedef struct ZipEntry {
    const char *name, *data;
    size_t size;
    uint32_t crc, offset;
} ZipEntry;

enum { ZIP_ENTRIES = 3 };

// What the header of an entry and its row in the directory have in common: version, flags, method,
// time (1980-01-01), checksum, sizes, length of the name.
static void put_entry(mf_Text *text, const ZipEntry *entry) {
    const struct {
        uint32_t value;
        int bytes;
    } members[] = {{20, 2},
                   {0, 2},
                   {0, 2},
                   {0, 2},
                   {0x21, 2},
                   {entry->crc, 4},
                   {(uint32_t)entry->size, 4},
                   {(uint32_t)entry->size, 4},
                   {(uint32_t)strlen(entry->name), 2},
                   {0, 2}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        put_number(text, members[i].value, members[i].bytes);
}

static void put_zip(mf_Text *zip, ZipEntry *entries) {
    for (int i = 0; i < ZIP_ENTRIES; i++) {
        entries[i].offset = (uint32_t)zip->size;
        entries[i].crc = mf_crc32(0, entries[i].data, entries[i].size);
        put_number(zip, 0x04034b50, 4);
        put_entry(zip, &entries[i]);
        mf_text_put(zip, entries[i].name);
        mf_text_put_bytes(zip, entries[i].data, entries[i].size);
    }
    const uint32_t directory = (uint32_t)zip->size;
    for (int i = 0; i < ZIP_ENTRIES; i++) {
        put_number(zip, 0x02014b50, 4);
        put_number(zip, 20, 2);
        put_entry(zip, &entries[i]);
        put_number(zip, 0, 2 + 2 + 2); // comment, disk, internal attributes
        put_number(zip, 0, 4);
        put_number(zip, entries[i].offset, 4);
        mf_text_put(zip, entries[i].name);
    }
    const uint32_t size = (uint32_t)zip->size - directory;
    put_number(zip, 0x06054b50, 4);
    put_number(zip, 0, 4); // disks
    put_number(zip, ZIP_ENTRIES, 2);
    put_number(zip, ZIP_ENTRIES, 2);
    put_number(zip, size, 4);
    put_number(zip, directory, 4);
    put_number(zip, 0, 2);
}

mf_Status mf_print_save_3mf(const mf_Print *print, const char *path, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    static const char types[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Types "
        "xmlns=\"http://schemas.openxmlformats.org/"
        "package/2006/content-types\"><Default Extension=\"rels\" ContentType=\"application/"
        "vnd.openxmlformats-package.relationships+xml\"/><Default Extension=\"model\" "
        "ContentType=\"application/vnd.ms-package.3dmanufacturing-3dmodel+xml\"/></Types>\n";
    static const char relations[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Relationships xmlns=\"http://"
        "schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"model\" "
        "Target=\"/3D/3dmodel.model\" Type=\"http://schemas.microsoft.com/3dmanufacturing/2013/01/"
        "3dmodel\"/></Relationships>\n";
    MF_NEED(print != NULL && path != NULL, error, "print: an argument is NULL");
    mf_Text model = mf_text_begin(print->context), zip = mf_text_begin(print->context);
    put_model(&model, print);
    ZipEntry entries[ZIP_ENTRIES] = {{"[Content_Types].xml", types, sizeof types - 1, 0, 0},
                                     {"_rels/.rels", relations, sizeof relations - 1, 0, 0},
                                     {"3D/3dmodel.model", model.data, model.size, 0, 0}};
    mf_Status status = MF_OK;
    if (model.failed)
        status = mf_fail(error, MF_NO_MEMORY, "print: out of memory");
    else if (model.size > UINT32_MAX / 2)
        status = mf_fail(error, MF_LIMIT, "print: the 3MF file would be larger than 2 GiB");
    if (status == MF_OK) {
        put_zip(&zip, entries);
        status = mf_text_save(&zip, path, "print", error);
    }
    mf_text_free(&zip);
    mf_text_free(&model);
    return status;
}
