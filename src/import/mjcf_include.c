// The main file and all included files as one tree: an <include> element is replaced by the
// children of the included file's root. A file may be included once in the whole model, which also
// prevents cycles. Names are looked up next to the main file first, then next to the file that
// includes, as MuJoCo does; the rules of package.c keep them inside their root.
#include "base/file.h"
#include "import/mjcf_rows.h"
#include "import/package.h"
#include "base/inject.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static mf_Status find_file(mf_Mjcf *m, const mf_XmlNode *node, const char *name, char *path) {
    mf_Error reason = {0};
    mf_Status status =
        mf_package_resolve(m->context, m->file, m->config, "file", NULL, name, path, &reason);
    if (status == MF_NOT_FOUND && node->file != m->file)
        status = mf_package_resolve(m->context, node->file, m->config, "file", NULL, name, path,
                                    &reason);
    if (status == MF_OK)
        return MF_OK;
    if (status == MF_NO_MEMORY || status == MF_IO)
        return mf_xml_fail(&m->xml, node, status, "<include>: cannot access '%.200s'", name);
    return mf_xml_fail(&m->xml, node, status, "<include>: file '%.200s' %s", name,
                       status == MF_BAD_FILE ? "leaves its root folder by '..'" : "not found");
}

// The same file under two names counts as one.
static mf_Status remember(mf_Mjcf *m, const mf_XmlNode *node, const char *path) {
    char real[PATH_MAX];
    if (!mf_allow(m->context, "realpath") || realpath(path, real) == NULL)
        return mf_xml_fail(&m->xml, node, MF_IO, "<include>: cannot access '%.200s'", path);
    if (mf_names_find(&m->included_names, real) != UINT32_MAX)
        return mf_mjcf_fail(m, node, "<include>: file '%.200s' is included a second time", path);
    const char *copy = mf_arena_text(&m->arena, real, strlen(real));
    if (copy == NULL || !mf_names_add(&m->included_names, copy, m->included.count))
        return mf_mjcf_no_memory(m);
    return MF_OK;
}

static mf_Status parse_file(mf_Mjcf *m, const mf_XmlNode *node, const char *path,
                            mf_XmlNode **root) {
    char *data;
    size_t size;
    const char *copy = mf_arena_text(&m->arena, path, strlen(path));
    mf_Xml *xml = mf_arena_take(&m->arena, sizeof *xml);
    mf_Xml **slot = mf_list_push(m->context, &m->included, sizeof *slot);
    if (slot == NULL || copy == NULL || xml == NULL) {
        if (slot != NULL)
            m->included.count--;
        return mf_mjcf_no_memory(m);
    }
    *xml = (mf_Xml){.file = copy};
    *slot = xml;
    mf_Status status = mf_file_read_text(m->context, copy, MF_FILE_LIMIT, &data, &size, m->error);
    if (status != MF_OK)
        return status;
    if (size == 0)
        status = mf_mjcf_fail(m, node, "<include>: file '%.200s' is empty", path);
    else
        status = mf_xml_parse(m->context, copy, data, size, xml, m->error);
    mf_release(m->context, data);
    if (status == MF_OK)
        *root = xml->root;
    return status;
}

static mf_Status load(mf_Mjcf *m, const mf_XmlNode *node, bool again, mf_XmlNode **root) {
    char path[MF_PATH_LIMIT];
    const char *name = mf_xml_attribute(node, "file");
    if (name == NULL || *name == '\0')
        return mf_mjcf_fail(m, node, "<%.80s> needs the attribute 'file'", node->name);
    if (node->first != NULL)
        return mf_mjcf_fail(m, node, "<%.80s> must be empty, found <%.80s> inside", node->name,
                            node->first->name);
    if (m->in_memory)
        return mf_xml_fail(&m->xml, node, MF_UNSUPPORTED,
                           "<%.80s> needs a file, found text in memory", node->name);
    if (m->included.count >= MF_MJCF_INCLUDES)
        return mf_xml_fail(&m->xml, node, MF_LIMIT, "at most %u included files", MF_MJCF_INCLUDES);
    MF_TRY(find_file(m, node, name, path));
    if (!again)
        MF_TRY(remember(m, node, path));
    return parse_file(m, node, path, root);
}

// Replaces `node`, which follows `before` (or is first), by the children of `root`.
static void splice(mf_XmlNode *parent, mf_XmlNode *before, mf_XmlNode *node, mf_XmlNode *root) {
    mf_XmlNode *next = node->next, *first = root->first ? root->first : next;
    if (before == NULL)
        parent->first = first;
    else
        before->next = first;
    if (root->first == NULL) {
        if (next == NULL)
            parent->last = before;
        return;
    }
    for (mf_XmlNode *child = root->first; child; child = child->next)
        child->parent = parent;
    root->last->next = next;
    if (next == NULL)
        parent->last = root->last;
}

// A name without letters is no name, as in MuJoCo.
static void drop_empty_names(mf_XmlNode *node) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < node->attribute_count; i++) {
        const mf_XmlAttribute *attribute = &node->attributes[i];
        if (*attribute->value != '\0' || !mf_mjcf_names_element(attribute->name))
            node->attributes[kept++] = *attribute;
    }
    node->attribute_count = kept;
}

static mf_Status expand(mf_Mjcf *m, mf_XmlNode *parent, uint32_t depth) {
    static const mf_MjcfField fields[] = {ELSEWHERE("file"), END};
    mf_XmlNode *before = NULL, *node = parent->first;
    if (depth > MF_XML_DEPTH)
        return mf_xml_fail(&m->xml, parent, MF_LIMIT, "elements are nested more than %u deep",
                           MF_XML_DEPTH);
    while (node != NULL) {
        if (strcmp(node->name, "include") == 0) {
            mf_XmlNode *root = NULL;
            MF_TRY(mf_mjcf_read(m, node, fields, NULL));
            MF_TRY(load(m, node, false, &root));
            splice(parent, before, node, root);
            node = before ? before->next : parent->first;
            continue;
        }
        drop_empty_names(node);
        MF_TRY(expand(m, node, depth + 1));
        before = node;
        node = node->next;
    }
    return MF_OK;
}

// Names in it are looked up next to the file itself first, since it is a separate model.
mf_Status mf_mjcf_read_file(mf_Mjcf *m, const mf_XmlNode *node, bool again, mf_XmlNode **root) {
    const char *main_file = m->file;
    MF_TRY(load(m, node, again, root));
    m->file = (*root)->file;
    mf_Status status = expand(m, *root, 1);
    m->file = main_file;
    return status;
}

mf_Status mf_mjcf_include(mf_Mjcf *m) {
    if (!m->in_memory) {
        char real[PATH_MAX];
        if (!mf_allow(m->context, "realpath") || realpath(m->file, real) == NULL)
            return mf_fail_at(m->error, MF_IO, m->file, 0, 0, "cannot find the file's folder");
        const char *copy = mf_arena_text(&m->arena, real, strlen(real));
        if (copy == NULL || !mf_names_add(&m->included_names, copy, MF_MJCF_INCLUDES))
            return mf_mjcf_no_memory(m);
    }
    return expand(m, m->xml.root, 1);
}
