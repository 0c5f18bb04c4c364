// Mayfly's extension of URDF: <mayfly> below <robot>. Each kind of child has a reader; motors are
// read before (urdf_servo.c), while joints still have the indices of the file.
#include "model/import/urdf.h"

#include <string.h>

static const struct {
    const char *name;
    mf_Status (*read)(mf_Urdf *urdf, const mf_XmlNode *node);
} readers[] = {{"sensor", mf_urdf_read_own_sensor},
               {"dock", mf_urdf_read_dock},
               {"camera", mf_urdf_read_camera},
               {"servo", NULL}};

static mf_Status read_child(mf_Urdf *urdf, const mf_XmlNode *node) {
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (strcmp(node->name, readers[i].name) == 0)
            return readers[i].read != NULL ? readers[i].read(urdf, node) : MF_OK;
    return mf_urdf_ignore(urdf, node);
}

mf_Status mf_urdf_read_mayfly(mf_Urdf *urdf) {
    mf_Status status = MF_OK;
    for (const mf_XmlNode *part = mf_xml_child(urdf->xml.root, "mayfly"); part;
         part = mf_xml_next(part, "mayfly"))
        for (const mf_XmlNode *node = part->first; status == MF_OK && node; node = node->next)
            status = read_child(urdf, node);
    return status;
}
