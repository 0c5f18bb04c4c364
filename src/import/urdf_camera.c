// Cameras of a URDF file:
//
//   <mayfly><camera name="eye" link="head" xyz="0.05 0 0" rpy="0 0 0" width="320" height="240"
//       fovy="0.8" lens="brown" coefficients="-0.28 0.09 0.0005 -0.0003" depth="true" rate="20"
//       delay="0.05" blur="0.8" noise="0.01"/></mayfly>
//
// Attributes are the rows of the table of fields; only name and link are required. It looks along x
// of its pose, z up. `fovy` [rad] is the angle of view from top to bottom, instead of focal and
// center, which is in the middle where it is not given.
#include "import/item.h"
#include "import/urdf.h"

#include "math/scalar.h"

#include <stdio.h>

static const char *const elsewhere[] = {"link", "xyz", "rpy", "fovy", "rate", NULL};

// The angle of view needs the size; a focal length alone has the center in the middle.
static mf_Status read_view(mf_Urdf *urdf, const mf_XmlNode *node, mf_Camera *out) {
    const bool focal = mf_xml_attribute(node, "focal") != NULL,
               centered = mf_xml_attribute(node, "center") == NULL;
    const double given[4] = {out->focal[0], out->focal[1], out->center[0], out->center[1]};
    const bool wide = out->lens == MF_LENS_ANGLE || out->lens == MF_LENS_FISHEYE;
    double fovy = MF_PI / 4;
    MF_TRY(mf_xml_numbers(&urdf->xml, node, "fovy", 1, &fovy));
    if (focal && mf_xml_attribute(node, "fovy") != NULL)
        return mf_import_refuse(&urdf->xml, node, "fovy", "either fovy or focal");
    if (!(fovy > 0.0 && fovy < (wide ? 2.0 * MF_PI : MF_PI)))
        return mf_import_refuse(&urdf->xml, node, "fovy", wide ? "0 .. 6.28 rad" : "0 .. 3.14 rad");
    mf_camera_set_view(out, fovy);
    for (int i = 0; i < 2; i++) {
        out->focal[i] = focal ? given[i] : out->focal[i];
        out->center[i] = centered ? out->center[i] : given[2 + i];
    }
    return MF_OK;
}

mf_Status mf_urdf_read_camera(mf_Urdf *urdf, const mf_XmlNode *node) {
    mf_Camera camera = mf_camera();
    char what[300];
    MF_TRY(mf_import_names(&urdf->xml, node, MF_ITEM_CAMERA, elsewhere));
    MF_TRY(mf_xml_name(&urdf->xml, node, "name", &camera.name));
    MF_TRY(mf_import_members(&urdf->xml, node, MF_ITEM_CAMERA, &camera));
    MF_TRY(read_view(urdf, node, &camera));
    MF_TRY(mf_urdf_read_rate(urdf, node, &camera.rate));
    MF_TRY(mf_urdf_read_frame(urdf, node, &camera.frame));
    snprintf(what, sizeof what, "<camera> %.255s", camera.name);
    return mf_import_mount(&urdf->xml, node, &urdf->draft, &mf_camera_kind, &camera, what);
}
