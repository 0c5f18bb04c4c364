// Textures and materials: pixels of patterns and files, what MJCF makes of them, texture
// coordinates of meshes, and what is wrong with them.
#include "model/support.h"
#include "model/texture.h"

#include "import/mesh.h"
#include "image/image.h"

static mf_Texture pattern_of(mf_TextureType type, mf_TexturePattern pattern, uint32_t edge) {
    mf_Texture texture = {.name = "t",
                          .path = "",
                          .layout = "",
                          .type = type,
                          .pattern = pattern,
                          .first_color = {1.0, 0.5, 0.0},
                          .second_color = {0.0, 0.25, 1.0},
                          .mark_color = {1.0, 1.0, 1.0},
                          .random = 0.25,
                          .width = edge,
                          .height = edge,
                          .grid = {1, 1}};
    return texture;
}

static uint8_t *pixels_of(mf_Context *context, const mf_Texture *texture, uint32_t expected_width,
                          uint32_t expected_height) {
    uint8_t *pixels = NULL;
    uint32_t width, height;
    MUST(mf_texture_pixels(context, texture, &pixels, &width, &height, &error));
    assert_int_equal(width, expected_width);
    assert_int_equal(height, expected_height);
    return pixels;
}

static void assert_pixel(const uint8_t *pixel, int red, int green, int blue) {
    assert_int_equal(pixel[0], red);
    assert_int_equal(pixel[1], green);
    assert_int_equal(pixel[2], blue);
}

// Bytes are cut, as MuJoCo does: 0.5 is 127, 0.25 is 63.
TEST_WITH(patterns, make_context, drop_context) {
    mf_Texture texture = pattern_of(MF_TEXTURE_FLAT, MF_PATTERN_CHECKER, 4);
    uint8_t *pixels = pixels_of(*state, &texture, 4, 4);
    assert_pixel(pixels, 255, 127, 0);
    assert_pixel(pixels + 3 * 2, 0, 63, 255);
    assert_pixel(pixels + 3 * (2 * 4 + 1), 0, 63, 255);
    assert_pixel(pixels + 3 * (3 * 4 + 3), 255, 127, 0);
    mf_release(*state, pixels);
    texture.mark = MF_MARK_CROSS;
    pixels = pixels_of(*state, &texture, 4, 4);
    assert_pixel(pixels + 3 * 2, 255, 255, 255);
    assert_pixel(pixels + 3 * (2 * 4), 255, 255, 255);
    assert_pixel(pixels + 3 * (3 * 4 + 3), 255, 127, 0);
    mf_release(*state, pixels);
    texture.pattern = MF_PATTERN_GRADIENT;
    texture.mark = MF_MARK_EDGE;
    texture.width = texture.height = 5;
    pixels = pixels_of(*state, &texture, 5, 5);
    assert_pixel(pixels + 3 * (2 * 5 + 2), 255, 127, 0); // the first color in the middle
    assert_pixel(pixels, 255, 255, 255);
    mf_release(*state, pixels);
    texture.mark = MF_MARK_NONE;
    pixels = pixels_of(*state, &texture, 5, 5);
    assert_pixel(pixels, 0, 63, 255); // the second one in the corners
    mf_release(*state, pixels);
}

TEST_WITH(faces_of_cubes, make_context, drop_context) {
    mf_Texture texture = pattern_of(MF_TEXTURE_CUBE, MF_PATTERN_PLAIN, 3);
    uint8_t *pixels = pixels_of(*state, &texture, 3, 18);
    for (uint32_t face = 0; face < 6; face++) // the lower one is the fourth
        assert_pixel(pixels + 27 * face, face == 3 ? 0 : 255, face == 3 ? 63 : 127,
                     face == 3 ? 255 : 0);
    mf_release(*state, pixels);
    texture.pattern = MF_PATTERN_GRADIENT;
    pixels = pixels_of(*state, &texture, 3, 18);
    const uint8_t *middle = pixels + 3 * 4;
    assert_pixel(middle, 127, 95, 127); // halfway at the horizon
    assert_pixel(middle + 27 * 2, 255, 127, 0);
    assert_pixel(middle + 27 * 3, 0, 63, 255);
    mf_release(*state, pixels);
    texture.pattern = MF_PATTERN_CHECKER;
    pixels = pixels_of(*state, &texture, 3, 18);
    assert_pixel(pixels, 255, 127, 0);
    assert_pixel(pixels + 27 * 4, 0, 63, 255); // exchanged in front and behind
    mf_release(*state, pixels);
}

// About the asked share of pixels is dots, the same in every run.
TEST_WITH(random_dots, make_context, drop_context) {
    mf_Texture texture = pattern_of(MF_TEXTURE_FLAT, MF_PATTERN_PLAIN, 64);
    texture.mark = MF_MARK_RANDOM;
    uint8_t *first = pixels_of(*state, &texture, 64, 64),
            *second = pixels_of(*state, &texture, 64, 64);
    int dots = 0;
    for (int i = 0; i < 64 * 64; i++)
        dots += first[3 * i + 2] == 255;
    assert_in_range(dots, 900, 1150); // 1024 +- 4.5 standard deviations
    assert_memory_equal(first, second, 3 * 64 * 64);
    mf_release(*state, first);
    mf_release(*state, second);
}

// ---- files --------------------------------------------------------------------------------------

// Pixel i has the red 10 i.
static void write_picture(mf_Context *context, char path[512], const char *name, uint32_t width,
                          uint32_t height) {
    uint8_t pixels[3 * 64] = {0}, *png;
    size_t size;
    for (uint32_t i = 0; i < width * height; i++)
        pixels[3 * i] = (uint8_t)(10 * i);
    const mf_Image image = {width, height, 3, 8, 255, pixels};
    MUST(mf_image_encode(context, &image, 6, &png, &size, &error));
    write_bytes(path, name, png, size);
    mf_release(context, png);
}

#define ROBOT                                                                                      \
    "<body name='b'><freejoint/><geom name='skin' type='box' size='.1 .2 .3' material='m'/>"       \
    "<camera name='eye'/></body>"
#define MODEL(asset)                                                                               \
    "<mujoco>\n<asset>\n" asset "\n</asset>\n<worldbody>" ROBOT "</worldbody></mujoco>"

static mf_Model *load_with(mf_Context *context, const char *text) {
    char path[512];
    write_text(path, "robot.xml", text);
    return load_file(context, path, NULL);
}

TEST_WITH(files, make_context, drop_context) {
    char path[512];
    write_picture(*state, path, "wide.png", 3, 2);
    AUTO_MODEL *model = load_with(*state, MODEL("<texture type='2d' name='x' file='wide.png' "
                                                "hflip='true'/><material name='m' texture='x'/>"));
    assert_int_equal(model->texture_count, 1);
    const mf_Texture *texture = &model->textures[0];
    assert_int_equal(texture->width, 3);
    uint8_t *pixels = pixels_of(*state, texture, 3, 2);
    const int expected[6] = {20, 10, 0, 50, 40, 30};
    for (int i = 0; i < 6; i++)
        assert_pixel(pixels + 3 * i, expected[i], 0, 0);
    mf_release(*state, pixels);
}

// Two faces are in the file, the others have rgb1.
TEST_WITH(cube_files, make_context, drop_context) {
    char path[512];
    write_picture(*state, path, "two.png", 4, 2);
    AUTO_MODEL *model = load_with(
        *state, MODEL("<texture file='two.png' gridsize='1 2' gridlayout='UL' rgb1='0 0 1'/>"
                      "<material name='m' texture='two'/>"));
    uint8_t *pixels = pixels_of(*state, &model->textures[0], 2, 12);
    assert_pixel(pixels, 0, 0, 255);
    assert_pixel(pixels + 12, 20, 0, 0);    // left: the second square
    assert_pixel(pixels + 2 * 12, 0, 0, 0); // up: the first
    assert_pixel(pixels + 2 * 12 + 3, 10, 0, 0);
    assert_pixel(pixels + 2 * 12 + 6, 40, 0, 0);
    mf_release(*state, pixels);
}

// ---- materials ----------------------------------------------------------------------------------

TEST_WITH(materials_of_shapes, make_context, drop_context) {
    AUTO_MODEL *model = load_with(
        *state,
        "<mujoco><default><material emission='.5'/><default class='c'>"
        "<material texrepeat='3 4'/></default></default><asset>"
        "<texture name='t' type='2d' builtin='flat' width='2' height='2'/>"
        "<texture name='unused' type='2d' builtin='flat' width='2' height='2'/>"
        "<texture type='skybox' builtin='gradient' width='4'/>"
        "<material name='m' class='c' texture='t' rgba='1 .5 0 1' specular='.3'/>"
        "<material name='plain' rgba='0 1 0 1'/><material name='unused'/></asset><worldbody>"
        "<body><freejoint/><geom size='1' material='m'/>"
        "<geom size='1' material='m' rgba='0 0 1 1'/><geom size='1' material='plain'/>"
        "<geom size='1'/></body></worldbody></mujoco>");
    assert_int_equal(model->texture_count, 2); // and the sky, which needs no shape
    assert_int_equal(model->material_count, 2);
    const mf_Shape *shapes = model->shapes;
    assert_int_equal(shapes[0].material, shapes[1].material);
    assert_int_equal(shapes[3].material, MF_NONE);
    assert_near(shapes[0].color[1], 0.5, 0.0);
    assert_near(shapes[1].color[2], 1.0, 0.0); // a shape's own color
    const mf_Material *material = &model->materials[shapes[0].material];
    assert_near(material->repeat[1], 4.0, 0.0);
    assert_near(material->emission, 0.5, 0.0);
    assert_int_equal(model->textures[material->texture].width, 2);
    assert_int_equal(model->materials[shapes[2].material].texture, MF_NONE);
    assert_non_null(find_note(model, "<material> specular"));
}

// An MJCF that is written gives the same model; another picture gives another one, as its camera
// sees it.
TEST_WITH(hash_and_export, make_context, drop_context) {
    char picture[512];
    const char *text = MODEL("<texture type='2d' name='x' file='own.png' vflip='true'/>"
                             "<texture name='y' builtin='checker' width='4' mark='cross'/>"
                             "<material name='m' texture='x' texrepeat='2 2'/>");
    write_picture(*state, picture, "own.png", 3, 2);
    AUTO_MODEL *model = load_with(*state, text);
    const uint64_t hash = mf_model_hash(model);
    AUTO_MODEL *again = written_and_read(*state, model);
    assert_true(again->textures[0].flip_rows);
    mf_model_destroy(model);
    write_picture(*state, picture, "own.png", 2, 3);
    model = load_with(*state, text);
    assert_true(mf_model_hash(model) != hash);
}

#define TEXTURE(file)                                                                              \
    MODEL("<texture name='x' type='2d' file='" file "'/><material name='m' texture='x'/>")

static const Refusal refused[] = {
    {TEXTURE("none.png"), MF_NOT_FOUND, 3, "texture 'none.png' not found"},
    {TEXTURE("huge.png"), MF_LIMIT, 3, "found 65536 x 65536"},
    {TEXTURE("text.png"), MF_BAD_FILE, 3, "expected a PNG file"},
    {MODEL("<material name='m' texrepeat='0 1'/>"), MF_BAD_FILE, 3,
     "texrepeat: expected numbers > 0, found 0 and 1"},
    {MODEL("<material name='m' emission='-1'/>"), MF_BAD_FILE, 3, "emission"},
    {MODEL("<material name='m' texture='t'/>"), MF_BAD_FILE, 3, "there is no texture 't'"},
    {MODEL("<material name='other'/>"), MF_BAD_FILE, 5, "there is no material 'm'"},
    {MODEL("<texture name='x'/>"), MF_BAD_FILE, 3, "found neither"},
    {MODEL("<texture name='x' builtin='flat' width='-4'/>"), MF_BAD_FILE, 3, "found -4 and 0"},
    {MODEL("<texture name='x' builtin='flat' width='8000'/>"), MF_BAD_FILE, 3,
     "at most 2^26 pixels"},
    {MODEL("<texture name='x' file='a.png' gridsize='0 2'/>"), MF_BAD_FILE, 3, "gridsize"},
    {MODEL("<texture name='x' file='a.png' gridlayout='RX'/>"), MF_BAD_FILE, 3, "gridlayout"},
};

TEST_WITH(refusals, make_context, drop_context) {
    static const uint8_t huge[] = {137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 'I', 'H', 'D',
                                   'R', 0,  1,  0,  0,  0,  1,  0,  0, 8, 2, 0,  0,   0};
    char path[512];
    write_bytes(path, "huge.png", huge, sizeof huge);
    write_text(path, "text.png", "no picture at all, but long enough");
    check_refusals(*state, refused, sizeof refused / sizeof *refused);
}

// Told when the model is read, though pixels are decoded later.
TEST_WITH(damaged_files, make_context, drop_context) {
    char path[512];
    write_picture(*state, path, "cut.png", 4, 4);
    assert_int_equal(truncate(path, 50), 0);
    assert_refused(*state,
                   MODEL("<texture name='x' file='cut.png'/><material name='m' texture='x'/>"),
                   MF_BAD_FILE, 3, "(truncated?)");
    write_picture(*state, path, "bit.png", 4, 4);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 45, SEEK_SET), 0); // in the pixels
    const int byte = fgetc(file);
    assert_int_equal(fseek(file, 45, SEEK_SET), 0);
    fputc(byte ^ 4, file);
    fclose(file);
    assert_refused(*state,
                   MODEL("<texture name='x' file='bit.png'/><material name='m' texture='x'/>"),
                   MF_BAD_FILE, 3, "found a damaged chunk at byte 33");
    write_picture(*state, path, "odd.png", 3, 2); // no square
    assert_refused(*state,
                   MODEL("<texture name='x' file='odd.png'/><material name='m' texture='x'/>"),
                   MF_BAD_FILE, 3, "found 3 x 2 pixels");
}

TEST_WITH(without_memory, make_context, drop_context) {
    char path[512];
    AUTO_MODEL *model = NULL;
    mf_Error error = {0};
    write_picture(*state, path, "face.png", 4, 4);
    write_text(path, "robot.xml",
               "<mujoco><asset><texture name='x' file='face.png'/><material name='m' texture='x'/>"
               "</asset><worldbody><body><freejoint/><geom size='.1' material='m'/></body>"
               "</worldbody></mujoco>");
    mf_Status status = MF_NO_MEMORY;
    for (uint64_t i = 1; status != MF_OK; i++) {
        mf_context_fail_after(*state, i);
        status = mf_model_load(*state, path, NULL, &model, &error);
        mf_context_fail_after(*state, 0);
        if (status != MF_OK && status != MF_NO_MEMORY && status != MF_IO)
            fail_msg("%d: %s", (int)status, error.message);
    }
    uint8_t *pixels = NULL;
    uint32_t width, height;
    status = MF_NO_MEMORY;
    for (uint64_t i = 1; status != MF_OK; i++) {
        mf_context_fail_after(*state, i);
        status = mf_texture_pixels(*state, model->textures, &pixels, &width, &height, NULL);
        mf_context_fail_after(*state, 0);
        assert_true(status == MF_OK || status == MF_NO_MEMORY);
    }
    mf_release(*state, pixels);
}

// ---- meshes -------------------------------------------------------------------------------------

static const float *places(const mf_MeshData *mesh, uint32_t triangle) {
    return mesh->coordinates + 6 * (size_t)triangle;
}

TEST_WITH(coordinates_of_obj, make_context, drop_context) {
    static const char text[] = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nv 0 0 3\n"
                               "f 1/1/1 2/2 3/3 4/4\n" // before the places are known
                               "vt 0 0\nvt 1 0\nvt 1 .75\nvt 0 1\n"
                               "f -5/-4 -4//7 5/4\n";
    mf_MeshData mesh;
    mf_Error error = {0};
    assert_int_equal(mf_obj_parse(*state, "x.obj", text, sizeof text - 1, &mesh, &error), MF_OK);
    assert_int_equal(mesh.triangle_count, 3);
    assert_non_null(mesh.coordinates);
    // The square is cut from its second corner to its fourth; v goes downwards.
    const float first[6] = {0, 1, 1, 1, 0, 0}, second[6] = {1, 1, 1, 0.25f, 0, 0},
                third[6] = {0, 1, 0, 0, 0, 0};
    assert_memory_equal(places(&mesh, 0), first, sizeof first);
    assert_memory_equal(places(&mesh, 1), second, sizeof second);
    assert_memory_equal(places(&mesh, 2), third, sizeof third);
    const double mirror[3] = {-1, 1, 1};
    mf_mesh_scale(&mesh, mirror);
    assert_true(places(&mesh, 1)[2] == 0.0f && places(&mesh, 1)[5] == 0.25f);
    mf_mesh_release(&mesh);
    assert_int_equal(
        mf_obj_parse(*state, "x.obj", "v 0 0 0\nvt 0 0\nf 1/1 1/2 1/1\n", 29, &mesh, &error),
        MF_BAD_FILE);
    assert_int_equal(error.line, 3);
}

TEST_WITH(coordinates_in_the_file, make_context, drop_context) {
    const char *text = "<mujoco><asset><mesh name='q' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 2 1 "
                       "0 1 3 0 3 2 1 2 3' texcoord='0 0 1 0 0 1 .5 .25'/></asset><worldbody><body>"
                       "<freejoint/><geom type='mesh' mesh='q'/></body></worldbody></mujoco>";
    AUTO_MODEL *model = load_with(*state, text);
    const float *found = model->meshes[0].coordinates;
    const float second[6] = {0, 0, 1, 0, 0.5f, 0.25f};
    assert_non_null(found);
    assert_memory_equal(found + 6, second, sizeof second);
    AUTO_MODEL *again = written_and_read(*state, model);
    assert_memory_equal(again->meshes[0].coordinates, found, 4 * sizeof second);
}
