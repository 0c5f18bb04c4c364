// Cameras of an MJCF file. MuJoCo's look along -z with y up; a vertical angle of view, or focal
// length and size of the sensor with its principal point, in lengths or pixels. The image's center
// is `principal` away from the optical axis, to the right and down (MuJoCo 3.3 draws it so).
//
// Without a resolution a camera has that of MuJoCo's renderer. Cameras that are not fixed on their
// body or have no perspective stay frames for sensors; a note says so.
//
// What MJCF has no attribute for is in a form that MuJoCo passes over:
//
//   <custom><text name="camera:eye" data="lens=brown coefficients=-0.28,0.09 rate=62.5"/></custom>
//
// Words are the rows of the table of camera fields, the rate one number or numerator and
// denominator, the delay in seconds. `frame` (position and rotation in the link) and `center` are
// those of the element before they were rounded for it: they count where both agree.
#include "import/item.h"
#include "import/mjcf.h"

#include "math/scalar.h"

#include <string.h>

bool mf_mjcf_is_fixed_camera(const mf_MjcfOptics *optics) {
    const bool fixed = optics->mode == NULL || strcmp(optics->mode, "fixed") == 0;
    const bool flat =
        (optics->projection != NULL && strcmp(optics->projection, "perspective") != 0) ||
        (optics->orthographic != NULL && strcmp(optics->orthographic, "true") == 0);
    return fixed && !flat;
}

// One word of `output`.
static mf_Status measure(mf_Mjcf *m, const mf_MjcfOptics *optics, const char *text, size_t size,
                         mf_Camera *out) {
    const struct {
        const char *name;
        bool *flag;
    } known[] = {
        {"rgb", &out->color}, {"depth", &out->depth}, {"segmentation", &out->segmentation}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == size && memcmp(known[i].name, text, size) == 0) {
            *known[i].flag = true;
            return MF_OK;
        }
    return mf_mjcf_pass(m, optics->node, "output");
}

static mf_Status read_output(mf_Mjcf *m, const mf_MjcfOptics *optics, mf_Camera *out) {
    if (optics->output == NULL)
        return MF_OK;
    out->color = false;
    for (const char *at = optics->output; *(at += strspn(at, " ")) != '\0';) {
        const size_t size = strcspn(at, " ");
        MF_TRY(measure(m, optics, at, size, out));
        at += size;
    }
    out->color |= !out->depth && !out->segmentation;
    return MF_OK;
}

static mf_Status read_resolution(mf_Mjcf *m, const mf_MjcfOptics *optics, mf_Camera *out) {
    const double *size = optics->resolution;
    if (size[0] == 0.0)
        return MF_OK;
    for (int i = 0; i < 2; i++)
        if (!(size[i] >= 1.0 && size[i] <= 4096.0 && size[i] == mf_floor(size[i])))
            return mf_mjcf_fail(m, optics->node,
                                "<camera> resolution: expected whole numbers of pixels, 1 .. 4096, "
                                "found %g",
                                size[i]);
    out->width = (uint32_t)size[0];
    out->height = (uint32_t)size[1];
    return MF_OK;
}

static mf_Status read_lens(mf_Mjcf *m, const mf_MjcfOptics *optics, mf_Camera *out) {
    const double size[2] = {out->width, out->height}, *sensor = optics->sensor;
    if (sensor[0] == 0.0) {
        if (!(optics->fovy[0] > 0.0 && optics->fovy[0] < 180.0))
            return mf_mjcf_fail(m, optics->node,
                                "<camera> fovy: expected 0 .. 180 degrees, found %g",
                                optics->fovy[0]);
        mf_camera_set_view(out, optics->fovy[0] * (MF_PI / 180.0));
        return MF_OK;
    }
    if (!(sensor[0] > 0.0 && sensor[1] > 0.0 && optics->resolution[0] > 0.0))
        return mf_mjcf_fail(m, optics->node,
                            "<camera> sensorsize: expected lengths > 0, and a resolution");
    for (int i = 0; i < 2; i++) {
        const double per_length = size[i] / sensor[i];
        const bool pixels = optics->focal_pixel[0] > 0.0,
                   shifted = optics->principal_pixel[0] != 0.0 || optics->principal_pixel[1] != 0.0;
        out->focal[i] = pixels ? optics->focal_pixel[i] : optics->focal[i] * per_length;
        out->center[i] = 0.5 * (size[i] - 1.0) -
                         (shifted ? optics->principal_pixel[i] : optics->principal[i] * per_length);
        if (!(out->focal[i] > 0.0))
            return mf_mjcf_fail(m, optics->node,
                                "<camera> focal: a sensorsize needs two numbers > 0, found %g",
                                pixels ? optics->focal_pixel[i] : optics->focal[i]);
    }
    return MF_OK;
}

mf_Status mf_mjcf_add_camera(mf_Mjcf *m, const mf_MjcfSite *from) {
    const mf_MjcfOptics *optics = from->optics;
    const double from_mjcf[4] = {0.5, -0.5, 0.5, 0.5}; // from x forward, z up to -z forward, y up
    mf_Camera camera = mf_camera();
    if (!mf_mjcf_is_fixed_camera(optics))
        return MF_OK;
    MF_TRY(read_output(m, optics, &camera));
    MF_TRY(read_resolution(m, optics, &camera));
    MF_TRY(read_lens(m, optics, &camera));
    camera.name = optics->name != NULL ? optics->name : "";
    camera.frame = mf_mjcf_frame(m, from->body, from->position, from->rotation);
    mf_quat_multiply(camera.frame.rotation, camera.frame.rotation, from_mjcf);
    return mf_import_mount(&m->xml, optics->node, &m->draft, &mf_camera_kind, &camera, "<camera>");
}

// ---- what has no attribute ----------------------------------------------------------------------

static const double nearly = 1e-9; // [m], [1], [pixel] of what was rounded

static mf_Status read_rate(mf_Mjcf *m, const mf_XmlNode *node, mf_Rate *out) {
    const char *text = mf_xml_attribute(node, "rate"), *rest = "";
    double values[2] = {0.0, 1.0};
    if (text == NULL)
        return MF_OK;
    const uint32_t count = mf_xml_scan(text, 2, values, &rest);
    const double most = 9007199254740992.0; // whole numbers up to it are exact
    for (double scale = 1.0; count == 1 && scale < 1e9 && values[0] != mf_floor(values[0]);
         scale *= 10.0) {
        values[0] *= 10.0;
        values[1] *= 10.0;
    }
    for (int i = 0; i < 2; i++)
        if (*rest != '\0' || !(values[i] >= 1.0 && values[i] <= most) ||
            values[i] != mf_floor(values[i]))
            return mf_mjcf_fail(m, node,
                                "<camera> rate: expected one number per second, or a whole "
                                "numerator and denominator, found \"%.60s\"",
                                text);
    *out = (mf_Rate){(int64_t)values[0], (int64_t)values[1]};
    return MF_OK;
}

static bool agree(const double *a, const double *b, int count) {
    int i = 0;
    while (i < count && mf_abs(a[i] - b[i]) < nearly)
        i++;
    return i == count;
}

static mf_Status read_frame(mf_Mjcf *m, const mf_XmlNode *node, mf_Frame *frame) {
    double exact[7] = {0.0}, own[7];
    if (mf_xml_attribute(node, "frame") == NULL)
        return MF_OK;
    memcpy(own, frame->position, 3 * sizeof *own);
    memcpy(own + 3, frame->rotation, 4 * sizeof *own);
    MF_TRY(mf_xml_numbers(&m->xml, node, "frame", 7, exact));
    for (int i = 3; i < 7; i++) // q and -q are one rotation
        own[i] = own[3] * exact[3] < 0.0 ? -own[i] : own[i];
    if (agree(exact, own, 7)) {
        memcpy(frame->position, exact, 3 * sizeof *exact);
        memcpy(frame->rotation, exact + 3, 4 * sizeof *exact);
    }
    return MF_OK;
}

mf_Status mf_mjcf_read_camera_text(mf_Mjcf *m, const mf_XmlNode *node) {
    static const char *const elsewhere[] = {"frame", "rate", NULL};
    const char *name = mf_xml_attribute(node, "name");
    const uint32_t index = mf_draft_find(&m->draft, MF_ITEM_CAMERA, name);
    mf_Error cause = {0};
    if (index == MF_NONE)
        return mf_mjcf_fail(m, node, "<text> camera:%.100s: there is no camera of this name", name);
    mf_Camera *camera = mf_draft_cameras(&m->draft) + index;
    const mf_Camera own = *camera;
    MF_TRY(mf_import_names(&m->xml, node, MF_ITEM_CAMERA, elsewhere));
    MF_TRY(mf_import_members(&m->xml, node, MF_ITEM_CAMERA, camera));
    if (!agree(own.center, camera->center, 2))
        memcpy(camera->center, own.center, sizeof own.center);
    camera->name = own.name;
    MF_TRY(read_rate(m, node, &camera->rate));
    MF_TRY(read_frame(m, node, &camera->frame));
    return mf_import_blame(&m->xml, node, mf_camera_check(camera, "<camera>", &cause), &cause);
}
