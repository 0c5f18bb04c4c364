// The same pictures by OpenGL ES 2 on Mesa's software renderer, off screen: 64 views of 84 x 84 as
// tiles of one picture, each of a level ground and a humanoid of 22 shapes, read back to memory.
// Not part of the build:
//     apt-get install libegl-dev libgles-dev libegl1 libgles2 libgl1-mesa-dri
//     cc -O2 bench/peers/cameras_gl.c -lEGL -lGLESv2 -lm -o cameras_gl
//     EGL_PLATFORM=surfaceless LP_NUM_THREADS=2 ./cameras_gl 84 64
//     EGL_PLATFORM=surfaceless LP_NUM_THREADS=2 ./cameras_gl 320 6
#include <EGL/egl.h>
#include <GLES2/gl2.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { SHAPES = 22, RING = 16, ROWS = 8, ROUNDS = 20 };

static const char vertex_text[] =
    "attribute vec3 at; uniform mat4 view, place; varying vec3 normal;"
    "void main() { normal = mat3(place) * at; gl_Position = view * (place * vec4(at, 1.0)); }";
static const char pixel_text[] =
    "precision mediump float; uniform vec3 color; varying vec3 normal;"
    "void main() { gl_FragColor = vec4(color * (0.42 + 0.58 * max(0.0, "
    "dot(normalize(normal), vec3(0.36, 0.48, 0.8)))), 1.0); }";

static double seconds(int cpu) {
    struct timespec now;
    clock_gettime(cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static GLuint compile(GLenum kind, const char *text) {
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    return shader;
}

// A ball of 2 * RING * (ROWS - 1) triangles, scaled to each shape.
static int make_ball(float *out) {
    int count = 0;
    for (int j = 0; j < ROWS; j++)
        for (int i = 0; i < RING; i++)
            for (int k = 0; k < 6; k++) {
                static const int steps[6][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 1}};
                const double a = 2 * M_PI * (i + steps[k][0]) / RING,
                             b = M_PI * (j + steps[k][1]) / ROWS;
                out[count++] = (float)(sin(b) * cos(a));
                out[count++] = (float)(sin(b) * sin(a));
                out[count++] = (float)cos(b);
            }
    return count / 3;
}

static void set_position(GLint uniform, float x, float y, float z, float a, float b, float c) {
    const float m[16] = {a, 0, 0, 0, 0, b, 0, 0, 0, 0, c, 0, x, y, z, 1};
    glUniformMatrix4fv(uniform, 1, GL_FALSE, m);
}

int main(int count, char **names) {
    const int side = count > 1 ? atoi(names[1]) : 84, views = count > 2 ? atoi(names[2]) : 64;
    const int high = side == 320 ? 240 : side, across = (int)ceil(sqrt(views));
    const int wide = across * side, tall = (views + across - 1) / across * high;
    EGLDisplay display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    const EGLint expected[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                               EGL_OPENGL_ES2_BIT, EGL_NONE};
    const EGLint version[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
    EGLConfig config;
    EGLint found;
    if (!eglInitialize(display, NULL, NULL) ||
        !eglChooseConfig(display, expected, &config, 1, &found) || found < 1)
        return fprintf(stderr, "no EGL here\n"), 1;
    eglBindAPI(EGL_OPENGL_ES_API);
    EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context);
    printf("%s\n", (const char *)glGetString(GL_RENDERER));
    GLuint frame, buffers[2], program = glCreateProgram(), mesh;
    glGenFramebuffers(1, &frame);
    glGenRenderbuffers(2, buffers);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    const GLenum formats[2] = {0x8058 /* RGBA8 */, GL_DEPTH_COMPONENT16},
                 ends[2] = {GL_COLOR_ATTACHMENT0, GL_DEPTH_ATTACHMENT};
    for (int i = 0; i < 2; i++) {
        glBindRenderbuffer(GL_RENDERBUFFER, buffers[i]);
        glRenderbufferStorage(GL_RENDERBUFFER, formats[i], wide, tall);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, ends[i], GL_RENDERBUFFER, buffers[i]);
    }
    glAttachShader(program, compile(GL_VERTEX_SHADER, vertex_text));
    glAttachShader(program, compile(GL_FRAGMENT_SHADER, pixel_text));
    glBindAttribLocation(program, 0, "at");
    glLinkProgram(program);
    glUseProgram(program);
    const GLint view = glGetUniformLocation(program, "view"),
                place = glGetUniformLocation(program, "place"),
                color = glGetUniformLocation(program, "color");
    static float corners[RING * ROWS * 18];
    const int vertices = make_ball(corners);
    glGenBuffers(1, &mesh);
    glBindBuffer(GL_ARRAY_BUFFER, mesh);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)sizeof corners, corners, GL_STATIC_DRAW);
    glEnableVertexAttribArray(0);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_SCISSOR_TEST);
    unsigned char *pixels = malloc((size_t)wide * (size_t)tall * 4);
    // Perspective of 60 degrees from 1.5 m away, y up.
    const float f = 1.732f, near = 0.1f, far = 100.0f;
    const float look[16] = {f * (float)high / (float)side,
                            0,
                            0,
                            0,
                            0,
                            0,
                            (far + near) / (far - near),
                            1,
                            0,
                            f,
                            0,
                            0,
                            0,
                            -f * 0.7f,
                            (-2 * far * near) / (far - near) + 1.5f * (far + near) / (far - near),
                            1.5f};
    double best = 1e9, best_cpu = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        const double start = seconds(0), start_cpu = seconds(1);
        glClearColor(0.6f, 0.75f, 0.9f, 1.0f);
        glScissor(0, 0, wide, tall);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        for (int v = 0; v < views; v++) {
            glViewport(v % across * side, v / across * high, side, high);
            glScissor(v % across * side, v / across * high, side, high);
            glUniformMatrix4fv(view, 1, GL_FALSE, look);
            glUniform3f(color, 0.5f, 0.55f, 0.5f);
            set_position(place, 0, 0, -0.5f, 40, 40, 0.5f);
            glDrawArrays(GL_TRIANGLES, 0, vertices);
            for (int s = 0; s < SHAPES; s++) {
                glUniform3f(color, 0.8f, 0.3f, 0.1f);
                set_position(place, 0.2f * (float)(s % 3 - 1), 0.1f * (float)(v % 5),
                             0.06f * (float)s, 0.07f, 0.06f, 0.08f);
                glDrawArrays(GL_TRIANGLES, 0, vertices);
            }
        }
        glReadPixels(0, 0, wide, tall, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        const double took = seconds(0) - start, took_cpu = seconds(1) - start_cpu;
        best = took < best ? took : best;
        best_cpu = took_cpu < best_cpu ? took_cpu : best_cpu;
    }
    unsigned seen = 0;
    for (long i = 0; i < (long)wide * tall; i++)
        seen += pixels[4 * i] > 180;
    printf(
        "%d images of %d x %d: %.1f ms, %.0f images/s; %.1f ms of all cores; %u pixels of robots "
        "and sky\n",
        views, side, high, 1e3 * best, views / best, 1e3 * best_cpu, seen);
    return 0;
}
