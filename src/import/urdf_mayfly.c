// Mayfly's extension of URDF: <mayfly> below <robot>. Each kind of child has a reader; motors are
// read before (urdf_servo.c), while joints still have the indices of the file.
#include "import/urdf.h"

#include "math/scalar.h"

#include <string.h>

mf_Status mf_urdf_read_frame(mf_Urdf *urdf, const mf_XmlNode *node, mf_Frame *out) {
    double xyz[3] = {0.0, 0.0, 0.0}, rpy[3] = {0.0, 0.0, 0.0}, rotation[4];
    const char *name;
    MF_TRY(mf_xml_name(&urdf->xml, node, "link", &name));
    MF_TRY(mf_xml_numbers(&urdf->xml, node, "xyz", 3, xyz));
    MF_TRY(mf_xml_numbers(&urdf->xml, node, "rpy", 3, rpy));
    const uint32_t index = mf_names_find(&urdf->link_names, name);
    if (index == UINT32_MAX)
        return mf_xml_refuse(&urdf->xml, node, "<%s>: there is no link '%.100s'", node->name, name);
    const mf_UrdfLink *link = &mf_urdf_links(urdf)[index];
    mf_quat_from_rpy(rotation, rpy);
    out->link = link->draft;
    mf_quat_rotate(out->position, link->rotation, xyz);
    mf_vec3_add(out->position, out->position, link->position);
    mf_quat_multiply(out->rotation, link->rotation, rotation);
    return MF_OK;
}

static const struct {
    const char *name;
    mf_Status (*read)(mf_Urdf *urdf, const mf_XmlNode *node);
} readers[] = {
#define READER(item, name, type) {#name, mf_urdf_read_##name},
    MF_MOUNTED_KINDS(READER){"sensor", mf_urdf_read_own_sensor},
    {"pair", mf_urdf_read_pair},
    {"servo", NULL}};

static mf_Status read_child(mf_Urdf *urdf, const mf_XmlNode *node) {
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (strcmp(node->name, readers[i].name) == 0)
            return readers[i].read != NULL ? readers[i].read(urdf, node) : MF_OK;
    return mf_urdf_ignore(urdf, node);
}

mf_Status mf_urdf_read_mayfly(mf_Urdf *urdf) {
    MF_XML_EACH (part, urdf->xml.root, "mayfly")
        for (const mf_XmlNode *node = part->first; node; node = node->next)
            MF_TRY(read_child(urdf, node));
    return MF_OK;
}
