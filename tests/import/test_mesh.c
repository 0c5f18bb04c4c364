// STL and OBJ readers, the search path of mesh files, and the mass points that represent a mesh.
#include "model/support.h"

#include "import/mesh.h"
#include "model/shape_kinds.h"

GROUP_FIXTURE(setup_context, teardown_context);

// A unit cube as OBJ: quads, mixed index forms, a comment, a negative index.
static const char *const cube =
    "# cube\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\nvn 0 0 1\n"
    "f 4 3 2 1\nf 5/1 6/1 7/1 8/1\nf 1//1 2//1 6//1 5//1\nf 2/1/1 3/1/1 7/1/1 6/1/1\n"
    "f 3 4 8 7\nf 4 1 5 -1 # back\n";

static const char *const triangle =
    "solid t\nfacet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 0 2 0\n"
    " endloop\nendfacet\nendsolid t\n";

static size_t make_binary(unsigned char *out, uint32_t claimed, const float (*corners)[3],
                          uint32_t triangles) {
    memset(out, 0, 84 + 50 * triangles);
    memcpy(out, "solid but binary", 16); // many exporters do this
    memcpy(out + 80, &claimed, 4);
    for (uint32_t i = 0; i < triangles; i++)
        memcpy(out + 84 + 50 * i + 12, corners[3 * i], 36);
    return 84 + 50 * triangles;
}

static mf_MeshData obj(void **state, const char *text) {
    mf_MeshData mesh;
    MUST(mf_obj_parse(*state, "m.obj", text, strlen(text), &mesh, &error));
    return mesh;
}

TEST(obj_polygons_become_triangles) {
    AUTO(mf_mesh_release) mf_MeshData mesh = obj(state, cube);
    assert_int_equal(mesh.vertex_count, 8);
    assert_int_equal(mesh.triangle_count, 12);
    assert_near(mf_mesh_volume(&mesh), 1.0, 1e-15);
    double middle[3], half[3];
    mf_mesh_box(&(mf_Mesh){.vertices = mesh.vertices, .vertex_count = 8}, middle, half);
    assert_near3(middle, 0.5, 0.5, 0.5, 0.0);
    assert_near3(half, 0.5, 0.5, 0.5, 0.0);
}

TEST(mirroring_keeps_the_outside_out) {
    AUTO(mf_mesh_release) mf_MeshData mesh = obj(state, cube);
    const double scale[3] = {-2.0, 1.0, 1.0};
    mf_mesh_scale(&mesh, scale);
    assert_near(mf_mesh_volume(&mesh), 2.0, 1e-15);
}

TEST(both_kinds_of_stl_are_read) {
    static const float corners[6][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0},
                                        {0, 2, 0}, {1, 0, 0}, {-0.0f, 0, 3}};
    unsigned char data[84 + 100 + 1] = {0};
    AUTO(mf_mesh_release) mf_MeshData mesh;
    MUST(mf_stl_parse(*state, "t.stl", triangle, strlen(triangle), &mesh, &error));
    assert_int_equal(mesh.triangle_count, 1);
    assert_int_equal(mesh.vertex_count, 3);
    assert_near(mesh.vertices[7], 2.0, 0.0);
    mf_mesh_release(&mesh);
    size_t size = make_binary(data, 2, corners, 2);
    MUST(mf_stl_parse(*state, "b.stl", (char *)data, size, &mesh, &error));
    assert_int_equal(mesh.triangle_count, 2);
    assert_int_equal(mesh.vertex_count, 4); // shared corners are welded
}

TEST(broken_stl_is_refused) {
    static const float corners[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, NAN, 0}};
    unsigned char data[84 + 50 + 1] = {0};
    mf_MeshData mesh;
    mf_Error error = {0};
    size_t size = make_binary(data, 1, corners, 1);
    assert_fails(mf_stl_parse(*state, "b", (char *)data, size, &mesh, &error), MF_BAD_FILE, &error,
                 "not finite");
    memcpy(data, "not a so", 8);
    data[80] = 2; // one more triangle than there is
    assert_fails(mf_stl_parse(*state, "b", (char *)data, size, &mesh, &error), MF_BAD_FILE, &error,
                 "184 bytes for 2 triangles, found 134");
    memset(data + 80, 0xff, 4);
    assert_int_equal(mf_stl_parse(*state, "b", (char *)data, size, &mesh, &error), MF_BAD_FILE);
}

TEST(a_cube_is_represented_by_its_corners) {
    AUTO(mf_mesh_release) mf_MeshData mesh = obj(state, cube);
    double points[MF_MESH_POINTS_LIMIT][3];
    assert_int_equal(mf_mesh_points(&mesh, 8, points), 8);
    double sum[3] = {0, 0, 0};
    for (int i = 0; i < 8; i++) {
        for (int axis = 0; axis < 3; axis++) {
            assert_true(points[i][axis] == 0.0 || points[i][axis] == 1.0);
            sum[axis] += points[i][axis];
        }
    }
    assert_near3(sum, 4.0, 4.0, 4.0, 0.0);
    assert_int_equal(mf_mesh_points(&mesh, 100, points), 8); // no point twice
    // The first two are opposite corners.
    assert_int_equal(mf_mesh_points(&mesh, 2, points), 2);
    assert_near(fabs(points[0][0] - points[1][0]) + fabs(points[0][1] - points[1][1]) +
                    fabs(points[0][2] - points[1][2]),
                3.0, 0.0);
}

// ---- finding files -----------------------------------------------------------------------------

static void make_robot(char path[512], const char *where, const char *mesh) {
    char text[6000];
    snprintf(text, sizeof text,
             "<robot name='r'><link name='a'><inertial><mass value='1'/>"
             "<inertia ixx='0.1' iyy='0.1' izz='0.1'/></inertial><collision>\n<geometry>"
             "<mesh filename='%s' scale='1 1 2'/></geometry></collision></link></robot>",
             mesh);
    write_text(path, formatted("%s/robot.urdf", where), text);
}

static uint32_t load_meshes(void **state, const char *path, const mf_ImportConfig *config) {
    AUTO_MODEL *model = load_file(*state, path, config);
    uint32_t count = model->mesh_count;
    if (count > 0) {
        assert_int_equal(model->shapes[0].type, MF_SHAPE_MESH);
        uint32_t touching = 0;
        for (uint32_t i = 0; i < model->point_count; i++)
            touching += (model->points[i].flags & MF_POINT_COLLIDES) != 0;
        assert_int_equal(touching, 8);
    } else {
        assert_note(model, true, 2, "dropped");
    }
    return count;
}

TEST(meshes_are_found) {
    char path[512], mesh[512], address[4200];
    write_text(mesh, "pack/meshes/cube.obj", cube);
    write_text(path, "pack/package.xml", "<package><name>other_name</name></package>");
    static const char *const good[] = {
        "package://pack/meshes/cube.obj", "package://other_name/meshes/cube.obj",
        "model://pack/meshes/cube.obj",   "../meshes/cube.obj",
        "../urdf/../meshes/cube.obj",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        make_robot(path, "pack/urdf", good[i]);
        assert_int_equal(load_meshes(state, path, NULL), 1);
    }
    char real[4096];
    assert_non_null(realpath(mesh, real));
    assert_true(strlen(real) < 500);
    snprintf(address, sizeof address, "file://%s", real);
    make_robot(path, "pack/urdf", address);
    assert_int_equal(load_meshes(state, path, NULL), 1);
    make_robot(path, "pack/urdf", real);
    assert_int_equal(load_meshes(state, path, NULL), 1);
    // A pair decides alone.
    *strrchr(real, '/') = '\0';
    snprintf(address, sizeof address, "far=%s", real);
    const char *const pairs[] = {address};
    mf_ImportConfig config = WITH(mf_import_config(), .packages = pairs, .package_count = 1);
    make_robot(path, "pack/urdf", "package://far/cube.obj");
    assert_int_equal(load_meshes(state, path, &config), 1);
    assert_int_equal(load_meshes(state, path, NULL), 0);
}

TEST(missing_and_foreign_meshes_are_dropped_with_a_note) {
    char path[512];
    static const char *const bad[] = {
        "package://pack/meshes/none.obj", "package://nowhere/cube.obj", "cube.obj",
        "http://example.org/cube.obj",    "../meshes/cube.dae",         "$(touch pwned).stl",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        make_robot(path, "pack/urdf", bad[i]);
        assert_int_equal(load_meshes(state, path, NULL), 0);
    }
    assert_int_not_equal(access("pwned", F_OK), 0);
}

// A bent face of four corners: 1-3 is longer than 2-4, so 2-4 is the cut; a second object follows.
TEST(faces_are_cut_along_the_shorter_diagonal) {
    static const char text[] = "o one\nv 0 0 0\nv 1 0 0\nv 3 3 1\nv 0 1 0\nf 1 2 3 4\n"
                               "o two\nf 1 2 4\n";
    static const uint32_t expected[9] = {0, 1, 3, 1, 2, 3, 0, 1, 3};
    AUTO(mf_mesh_release) mf_MeshData mesh;
    MUST(mf_obj_parse(*state, "bent.obj", text, strlen(text), &mesh, &error));
    assert_int_equal(mesh.triangle_count, 3);
    assert_int_equal(mesh.first_object, 2);
    for (int i = 0; i < 9; i++)
        assert_int_equal(mesh.triangles[i], expected[i]);
}

TEST(climbing_out_is_refused) {
    char path[512];
    static const char *const bad[] = {
        "package://pack/../pack/meshes/cube.obj",
        "package://pack/meshes/../../../etc/x.obj",
        "../../../../../../etc/passwd.stl",
        "../../packs/meshes/cube.obj",
        "package://../x.obj",
        "package:///x.obj",
    };
    // The package ends where its caller says; without that, where the repository around ends.
    char folder[512], root[600];
    own_folder(folder);
    snprintf(root, sizeof root, "%s/pack", folder);
    mf_ImportConfig config = WITH(mf_import_config(), .root = root);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mf_Model *model;
        mf_Error error = {0};
        make_robot(path, "pack/urdf", bad[i]);
        assert_int_equal(mf_model_load(*state, path, &config, &model, &error), MF_BAD_FILE);
        assert_int_equal(error.line, 2);
        assert_contains(error.message, "leaves its folder");
        assert_null(model);
    }
}

// `..` is fine inside of the root: a folder that the caller names, or the package or repository.
TEST(climbing_inside_the_root_is_fine) {
    char path[512], folder[512], root[600];
    write_text(path, "tree/meshes/cube.obj", cube);
    own_folder(folder);
    snprintf(root, sizeof root, "%s/tree", folder);
    make_robot(path, "tree/a/b/c", "../../../meshes/cube.obj");
    mf_ImportConfig config = WITH(mf_import_config(), .root = root);
    assert_int_equal(load_meshes(state, path, &config), 1);
    snprintf(root, sizeof root, "%s/tree/a", folder);
    mf_Model *model;
    assert_int_equal(mf_model_load(*state, path, &config, &model, NULL), MF_BAD_FILE);
    // A project file makes the folder that holds it a repository.
    write_text(root, "tree/pyproject.toml", "");
    assert_int_equal(load_meshes(state, path, NULL), 1);
    make_robot(path, "tree/a/b/c", "../../../../pack/meshes/cube.obj");
    assert_int_equal(mf_model_load(*state, path, NULL, &model, NULL), MF_BAD_FILE);
    make_robot(path, "tree/a/b/c", "package:///tree/meshes/cube.obj"); // one slash too many
    assert_int_equal(load_meshes(state, path, NULL), 1);
}

// Two nodes of one triangle each, moved, in centimeters, z up: meters as they stand in the file.
TEST(collada_meshes_are_read) {
    static const char dae[] =
        "<?xml version='1.0'?><COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema' "
        "version='1.4.1'><asset><unit meter='0.01' name='cm'/><up_axis>Z_UP</up_axis></asset>"
        "<library_geometries><geometry id='g'><mesh><source id='p'><float_array id='f' count='9'>"
        "0 0 0 100 0 0 0 100 0</float_array><technique_common><accessor source='#f' count='3' "
        "stride='3'><param name='X' type='float'/><param name='Y' type='float'/><param name='Z' "
        "type='float'/></accessor></technique_common></source><vertices id='v'><input "
        "semantic='POSITION' source='#p'/></vertices><triangles count='1'><input semantic='VERTEX' "
        "source='#v' offset='0'/><p>0 1 2</p></triangles></mesh></geometry>"
        "</library_geometries><library_visual_scenes><visual_scene id='s'><node id='a'><translate>"
        "0 0 300</translate><instance_geometry url='#g'/></node><node id='b'><instance_geometry "
        "url='#g'/></node></visual_scene></library_visual_scenes><scene><instance_visual_scene "
        "url='#s'/></scene></COLLADA>";
    mf_MeshData mesh;
    double middle[3], half[3];
    assert_int_equal(mf_dae_parse(*state, "two.dae", dae, strlen(dae), &mesh, NULL), MF_OK);
    assert_int_equal(mesh.triangle_count, 2);
    mf_mesh_box(&(mf_Mesh){.vertices = mesh.vertices, .vertex_count = mesh.vertex_count}, middle,
                half);
    assert_near3(middle, 0.5, 0.5, 1.5, 1e-6);
    assert_near3(half, 0.5, 0.5, 1.5, 1e-6);
    mf_mesh_release(&mesh);
}

// The text of a scene of one geometry over five points of a square of 1 m, the last one within.
#define DAE(primitives, nodes)                                                                     \
    "<COLLADA version='1.4.1'><library_geometries><geometry id='g'><mesh><source id='p'>"          \
    "<float_array id='f'>0 0 0\n 1 0 0\n 1 1 0\n 0 1 0\n .5 .2 0</float_array><technique_common>"  \
    "<accessor source='#f' count='5' stride='3'/></technique_common></source><vertices id='v'>"    \
    "<input semantic='POSITION' source='#p'/></vertices>" primitives                               \
    "</mesh></geometry></library_geometries><library_visual_scenes><visual_scene>" nodes           \
    "</visual_scene></library_visual_scenes></COLLADA>"
#define CORNERS "<input semantic='VERTEX' source='#v' offset='0'/>"
#define AS_IT_IS "<node><instance_geometry url='#g'/></node>"

// Twice the area [m^2] of the triangles, those that face down negative.
static double doubled_area(const mf_MeshData *mesh) {
    double sum = 0.0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        const float *p[3];
        for (uint32_t k = 0; k < 3; k++)
            p[k] = &mesh->vertices[3 * mesh->triangles[3 * t + k]];
        const double area = (double)(p[1][0] - p[0][0]) * (double)(p[2][1] - p[0][1]) -
                            (double)(p[1][1] - p[0][1]) * (double)(p[2][0] - p[0][0]);
        assert_true(area > 0.0); // none is outside of the outline
        sum += area;
    }
    return sum;
}

TEST(collada_primitives_are_triangles) {
    static const struct {
        const char *text;
        uint32_t triangles;
        double doubled; // [m^2] twice the area
    } rows[] = {
        // A notch: a fan about the first corner would leave it.
        {DAE("<polylist>" CORNERS "<vcount>5</vcount><p>0 4 1 2 3</p></polylist>", AS_IT_IS), 3,
         1.8},
        {DAE("<polylist>" CORNERS "<vcount>5</vcount><p>3 0 4 1 2</p></polylist>", AS_IT_IS), 3,
         1.8},
        {DAE("<polygons>" CORNERS "<p>0 1 2 3</p><ph><p>0 1 4</p><h>0 1 2</h></ph></polygons>",
             AS_IT_IS),
         3, 2.2},
        {DAE("<tristrips>" CORNERS "<p>0 1 3 2</p></tristrips>", AS_IT_IS), 2, 2.0},
        {DAE("<trifans>" CORNERS "<p>0 1 2 3</p></trifans>", AS_IT_IS), 2, 2.0},
        {DAE("<triangles>" CORNERS "<input semantic='NORMAL' source='#p' offset='2'/><p>0 7 7 1 7 "
             "7 2 7 7</p></triangles><lines>" CORNERS "<p>0 9</p></lines>",
             AS_IT_IS),
         1, 1.0},
        // Twice as large, turned by 90 degrees, mirrored, 1 mm away.
        {DAE("<triangles>" CORNERS "<p>0 1 2</p></triangles>",
             "<node><translate>0.001 0 0</translate><rotate>0 0 1 90</rotate><scale>2 -2 1</scale>"
             "<node><instance_geometry url='#g'/></node></node>"),
         1, 4.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(mf_mesh_release) mf_MeshData mesh;
        mf_Error error = {0};
        if (mf_dae_parse(*state, "a.dae", rows[i].text, strlen(rows[i].text), &mesh, &error) !=
            MF_OK)
            fail_msg("row %zu: %s", i, error.message);
        assert_int_equal(mesh.triangle_count, rows[i].triangles);
        assert_near(doubled_area(&mesh), rows[i].doubled, 1e-6);
    }
}

static const struct {
    mf_Status (*parse)(mf_Context *context, const char *file, const char *data, size_t size,
                       mf_MeshData *out, mf_Error *error);
    const char *text;
    mf_Status status;
    int line; // -1: not looked at
    const char *phrase;
} broken[] = {
    {mf_obj_parse, "v 0 0 0\nv 1 0\nf 1 1 1\n", MF_BAD_FILE, 2, "three finite numbers"},
    {mf_obj_parse, "v 0 0 nan\nf 1 1 1\n", MF_BAD_FILE, 1, "three finite numbers"},
    {mf_obj_parse, "v 0 0 1e39\nf 1 1 1\n", MF_BAD_FILE, 1, "three finite numbers"},
    {mf_obj_parse, "v 0 0 0\nf 1 1\n", MF_BAD_FILE, 2, "at least 3 corners, found 2"},
    {mf_obj_parse, "v 0 0 0\n\nf 1 2 1\n", MF_BAD_FILE, 3,
     "corner 2: expected a vertex number in 1 .. 1"},
    {mf_obj_parse, "v 0 0 0\nf 1 0 1\n", MF_BAD_FILE, 2, "corner 2"},
    {mf_obj_parse, "v 0 0 0\nf 1 -2 1\n", MF_BAD_FILE, 2, "corner 2"},
    {mf_obj_parse, "v 0 0 0\nf 1 99999999999999999999999 1\n", MF_BAD_FILE, 2, "corner 2"},
    {mf_obj_parse, "v 0 0 0\nf a b c\n", MF_BAD_FILE, 2, "corner 1"},
    {mf_obj_parse, "v 0 0 0\n", MF_BAD_FILE, 0, "found none"},
    {mf_obj_parse, "", MF_BAD_FILE, 0, "found none"},
    {mf_stl_parse, "", MF_BAD_FILE, -1, ""},
    {mf_stl_parse, "solid\nfacet normal 0 0 1\nouter\n", MF_BAD_FILE, -1, ""},
    {mf_stl_parse, "solid t\nendsolid t\n", MF_BAD_FILE, 0, "found none"},
    {mf_stl_parse, "solid\nfacet\nouter loop\nvertex 0 0 x\nendloop", MF_BAD_FILE, 4,
     "expected a number"},
    {mf_stl_parse, "solid\nfacet\nouter loop\nvertex 0 0 0\nvertex 0 0 0\nendloop", MF_BAD_FILE, 6,
     "expected 'vertex'"},
    {mf_stl_parse, "solid\nface\nendloop", MF_BAD_FILE, 2, "expected 'facet'"},
    {mf_dae_parse, "<COLLADA/>", MF_BAD_FILE, -1, ""},
    {mf_dae_parse, DAE("", "<node id='n'><instance_node url='#n'/></node>"), MF_LIMIT, -1,
     "64 nodes deep, or contains itself"},
    {mf_dae_parse, DAE("", AS_IT_IS), MF_BAD_FILE, -1, "expected triangles, found none"},
    {mf_dae_parse, DAE("<triangles>" CORNERS "<p>0 1 5</p></triangles>", AS_IT_IS), MF_BAD_FILE, -1,
     "point 5 of 5"},
    {mf_dae_parse, DAE("<triangles>" CORNERS "<p>0 1 -1</p></triangles>", AS_IT_IS), MF_BAD_FILE,
     -1, "too few whole numbers"},
    {mf_dae_parse, DAE("<triangles><p>0 1 2</p></triangles>", AS_IT_IS), MF_BAD_FILE, -1,
     "needs an <input>"},
    {mf_dae_parse,
     DAE("<triangles>" CORNERS "<p>0 1 2</p></triangles>",
         "<node><scale>1e39 1 1</scale><instance_geometry url='#g'/></node>"),
     MF_BAD_FILE, -1, "not finite"},
    {mf_dae_parse, DAE("", "<node><instance_geometry url='#v'/></node>"), MF_BAD_FILE, -1,
     "there is no <geometry> '#v'"},
    {mf_dae_parse, DAE("", "<node><skew>1 2 3 4 5 6 7</skew></node>"), MF_UNSUPPORTED, -1,
     "is not supported"},
};

TEST(broken_meshes_are_refused) {
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        const char *text = broken[i].text;
        mf_MeshData mesh;
        mf_Error error = {0};
        assert_int_equal(broken[i].parse(*state, "m", text, strlen(text), &mesh, &error),
                         broken[i].status);
        assert_contains(error.message, broken[i].phrase);
        assert_true(broken[i].line < 0 || error.line == broken[i].line);
        assert_null(mesh.vertices);
    }
}

TEST(the_mujoco_mesh_folder_is_honored) {
    char path[512];
    write_text(path, "mj/assets/cube.obj", cube);
    write_text(path, "mj/robot.urdf",
               "<robot name='r'><mujoco><compiler meshdir='assets' discardvisual='true'/></mujoco>"
               "<link name='a'><inertial><mass value='1'/></inertial>"
               "<visual><geometry><box size='1 1 1'/></geometry></visual>"
               "<collision><geometry><mesh filename='package://gone/cube.obj'/></geometry>"
               "</collision></link></robot>");
    AUTO_MODEL *model = load_file(*state, path, NULL);
    assert_int_equal(model->mesh_count, 1);
    assert_int_equal(model->shape_count, 1);
}

TEST(equal_meshes_are_loaded_once_and_visuals_on_request) {
    char path[512];
    write_text(path, "pack/urdf/two.urdf",
               "<robot name='r'><link name='a'><inertial><mass value='1'/></inertial>"
               "<visual><geometry><mesh filename='../meshes/cube.obj'/></geometry></visual>"
               "<visual><geometry><mesh filename='../meshes/cube.obj' scale='-1 1 1'/></geometry>"
               "</visual><collision><geometry><mesh filename='../meshes/cube.obj'/></geometry>"
               "</collision></link></robot>");
    AUTO_MODEL *model = load_file(*state, path, NULL);
    assert_int_equal(model->shape_count, 3);
    assert_int_equal(model->mesh_count, 2);
    assert_int_equal(model->shapes[0].mesh, model->shapes[2].mesh);
    uint64_t hash = mf_model_hash(model);
    mf_model_destroy(model);
    model = load_file(*state, path, &WITH(mf_import_config(), .visual = false));
    assert_int_equal(model->shape_count, 1);
    assert_true(mf_model_hash(model) == hash); // pictures change no motion
}

TEST(broken_mesh_files_name_themselves) {
    char path[512];
    write_text(path, "pack/meshes/bad.obj", "v 0 0 0\nf 1 1 9\n");
    make_robot(path, "pack/urdf", "../meshes/bad.obj");
    mf_Model *model;
    mf_Error error = {0};
    assert_int_equal(mf_model_load(*state, path, NULL, &model, &error), MF_BAD_FILE);
    assert_int_equal(error.line, 2);
    assert_non_null(strstr(error.file, "bad.obj"));
}

// A tetrahedron as MuJoCo writes it, and files that are not what they say.
TEST(msh_is_read) {
    unsigned char file[16 + 48 + 12 + 8 + 48];
    const uint32_t counts[4] = {4, 1, 1, 4};
    const float vertices[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const uint32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    char path[512];
    mf_MeshData mesh;
    mf_Error error = {0};
    memset(file, 0, sizeof file);
    memcpy(file, counts, sizeof counts);
    memcpy(file + 16, vertices, sizeof vertices);
    memcpy(file + 84, faces, sizeof faces);
    write_bytes(path, "tet.msh", file, sizeof file);
    assert_int_equal(mf_mesh_load(*state, path, &mesh, &error), MF_OK);
    assert_int_equal(mesh.triangle_count, 4);
    assert_near(mf_mesh_volume(&mesh), 1 / 6.0, 1e-15);
    mf_mesh_release(&mesh);
    write_bytes(path, "tet.msh", file, sizeof file - 1);
    assert_fails(mf_mesh_load(*state, path, &mesh, &error), MF_BAD_FILE, &error,
                 "132 bytes for 4 vertices and 4 faces, found 131");
    write_bytes(path, "tet.msh", file, 15);
    assert_int_equal(mf_mesh_load(*state, path, &mesh, &error), MF_BAD_FILE);
    file[84] = 4;
    write_bytes(path, "tet.msh", file, sizeof file);
    assert_fails(mf_mesh_load(*state, path, &mesh, &error), MF_BAD_FILE, &error,
                 "vertex numbers below 4");
    file[3] = 0xff;
    write_bytes(path, "tet.msh", file, sizeof file);
    assert_int_equal(mf_mesh_load(*state, path, &mesh, &error), MF_BAD_FILE);
    assert_null(mesh.vertices);
    remove(path);
}
