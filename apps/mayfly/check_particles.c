// Check cases of particles, in double precision: fluids against hydrostatics, the collapsing column
// of Martin and Moyce (1952) and a decaying vortex; grains against rolling, impacts, rest and
// energy. docs/explanation/particles.md has the equations.
#include <math.h>

#include "check_particles_rig.h"

// ---- fluids -------------------------------------------------------------------------------------

typedef struct Fluid {
    double spacing, sound, viscosity, artificial; // [m], [m/s], [m^2/s], [1]
    double reach;                                 // [1] spacings
    double squeeze; // [1] how much closer than at rest they are at the start
} Fluid;

// [s] A step that needs no substeps.
static double step_of(const Fluid *fluid) {
    const double sound = 0.3 * fluid->spacing / fluid->sound;
    const double reach = fluid->reach * fluid->spacing;
    const double shear = fluid->viscosity + fluid->artificial * fluid->sound * reach / 20.0;
    const double diffusion = 0.05 * fluid->sound * reach;
    const double spread = reach * reach / (56.0 * (shear > diffusion ? shear : diffusion));
    return floor((sound < spread ? sound : spread) * 0.999 * 1e9) * 1e-9;
}

static void add_fluid(mf_CheckRun *run, mf_ParticleRig *rig, const Fluid *fluid,
                      const double low[3], const uint32_t size[3]) {
    const double a = fluid->spacing * (1.0 + fluid->squeeze);
    mf_MotionsConfig config = mf_motions_config();
    mf_particle_rig_particles(rig, size[0] * size[1] * size[2], 1000.0 * a * a * a, 0.5 * a);
    config.fluid.sound_speed = fluid->sound;
    config.fluid.reach = fluid->reach;
    config.fluid.viscosity = fluid->viscosity;
    config.fluid.artificial_viscosity = fluid->artificial;
    mf_check_must(run, mf_motion_add(rig->group, MF_MOTION_FLUID, &config, &run->error));
    mf_particle_rig_fill(rig, low, size, fluid->spacing);
    mf_check_must(run, mf_particles_couple(run->rig.world, &run->error));
}

typedef struct Line { // least squares of pressure over height
    double n, z, p, zz, zp;
} Line;

// Particles three spacings from the walls and the surface.
static void add_pressures(const mf_ParticleRig *rig, const double low[3], const double high[3],
                          double margin, Line *line) {
    const mf_Field *pressure = mf_group_find_field(rig->group, "particle.pressure");
    for (uint32_t i = 0; i < rig->count; i++) {
        bool inside = true;
        for (uint32_t c = 0; c < 3; c++) {
            const double at = mf_field_get(rig->position, i, c);
            inside = inside && at > low[c] + margin && at < high[c] - margin;
        }
        if (!inside)
            continue;
        const double z = mf_field_get(rig->position, i, 2) - low[2];
        const double p = mf_field_get(pressure, i, 0);
        *line = (Line){line->n + 1.0, line->z + z, line->p + p, line->zz + z * z, line->zp + z * p};
    }
}

// 0.3 m of water in a tank settle for 2.5 s; means of the next 0.5 s.
static void check_hydrostatics(mf_CheckRun *run) {
    const Fluid fluid = {0.02, 15.0, 1e-6, 0.02, 2.0, 0.0};
    const double low[3] = {0.0, 0.0, 1.0}, high[3] = {0.3, 0.3, 1.3}, step = step_of(&fluid);
    const uint32_t size[3] = {15, 15, 15};
    mf_ParticleRig rig;
    mf_particle_rig_world(&rig, run, step, 9.81, 0.0);
    const double walls[3] = {0.3, 0.3, 1.6};
    mf_particle_rig_tank(&rig, low, walls);
    add_fluid(run, &rig, &fluid, low, size);
    mf_rig_step(run, (uint64_t)(2.5 / step));
    const mf_Field *wrench = mf_group_find_field(rig.floor, "wrench.link");
    const uint64_t steps = (uint64_t)(0.5 / step);
    double floor_force = 0.0;
    Line line = {0};
    for (uint64_t k = 0; k < steps; k++) {
        mf_rig_step(run, 1);
        floor_force += mf_field_get(wrench, 0, 2) / (double)steps;
        if (k % 50 == 0)
            add_pressures(&rig, low, high, 0.06, &line);
    }
    const double slope =
        (line.n * line.zp - line.z * line.p) / (line.n * line.zz - line.z * line.z);
    mf_check_near(run, "dp/dz over -rho g", 1.0, -slope / 9810.0, 0.01);
    mf_check_near(run, "force on the floor over the weight", 1.0,
                  -floor_force / (3375 * 0.008 * 9.81), 1e-3);
    mf_check_near(run, "particles with a fault", 0.0, mf_group_fault_total(rig.group), 0.0);
}

enum { FRONTS = 8, TRACE = 400 };

// The front of a column of width a and height 2 a: Z = z / a at T = t sqrt(2 g / a).
typedef struct Collapse {
    double a;     // [m]
    double delay; // [1] of the gate, about, and as much more or less; in T
    uint32_t count;
    double times[FRONTS], fronts[FRONTS];
} Collapse;
static const Collapse martin_and_moyce = { // (1952), n^2 = 2, a = 2.25 in
    0.05715,
    0.2,
    5,
    {1.219, 1.997, 2.547, 3.345, 4.034},
    {1.474, 2.292, 2.995, 4.134, 4.944}};
static const Collapse koshizuka_and_oka = { // (1996), a = 146 mm
    0.146,
    0.2,
    8,
    {0.381, 0.769, 1.153, 1.537, 1.935, 2.323, 2.719, 3.096},
    {1.111, 1.252, 1.505, 1.892, 2.241, 2.615, 3.003, 3.624}};

typedef struct Trace {
    double time[TRACE], descriptor[TRACE]; // [1] as T and Z
    uint32_t count;
} Trace;

static double at_time(const Trace *trace, double time) {
    for (uint32_t k = 1; k < trace->count; k++)
        if (trace->time[k] >= time) {
            const double part = (time - trace->time[k - 1]) / (trace->time[k] - trace->time[k - 1]);
            return trace->descriptor[k - 1] +
                   part * (trace->descriptor[k] - trace->descriptor[k - 1]);
        }
    return NAN;
}

// The gate of the experiment opens late: times are shifted by what fits best.
static double fit_fronts(const Trace *trace, const Collapse *seen, double *shift) {
    double best = INFINITY;
    for (double late = 0.0; late < 0.6; late += 0.01) {
        double sum = 0.0;
        for (uint32_t k = 0; k < seen->count; k++) {
            const double position =
                seen->times[k] > late ? at_time(trace, seen->times[k] - late) : 1.0;
            sum += pow(position / seen->fronts[k] - 1.0, 2);
        }
        if (sqrt(sum / seen->count) < best) {
            best = sqrt(sum / seen->count);
            *shift = late;
        }
    }
    return best;
}

static double front_of(const mf_ParticleRig *rig, double spacing) {
    double most = 0.0;
    for (uint32_t i = 0; i < rig->count; i++)
        if (mf_field_get(rig->position, i, 2) < 1.0 + 2.0 * spacing &&
            mf_field_get(rig->position, i, 0) > most)
            most = mf_field_get(rig->position, i, 0);
    return most + 0.5 * spacing;
}

static void collapse(mf_CheckRun *run, const Collapse *seen) {
    const double a = seen->a, height = 2.0 * a, g = 9.81;
    const Fluid fluid = {a / 14.0, 12.0 * sqrt(a / 0.05715), 1e-6, 0.02, 2.0, 0.0};
    const double low[3] = {0.0, 0.0, 1.0}, walls[3] = {7.0 * a, 8.0 * fluid.spacing, 1.5};
    const uint32_t size[3] = {14, 8, 28};
    const double step = step_of(&fluid);
    mf_ParticleRig rig;
    Trace trace = {.count = 0};
    double shift = 0.0, beyond = 0.0;
    mf_particle_rig_world(&rig, run, step, g, 0.0);
    mf_particle_rig_tank(&rig, low, walls);
    add_fluid(run, &rig, &fluid, low, size);
    for (; trace.count < TRACE && (trace.count == 0 || front_of(&rig, fluid.spacing) < 5.2 * a);
         trace.count++) {
        const double t = mf_rig_time(run);
        const double front = front_of(&rig, fluid.spacing);
        trace.time[trace.count] = t * sqrt(2.0 * g / a);
        trace.descriptor[trace.count] = front / a;
        beyond = fmax(beyond, front - a - 2.0 * sqrt(g * height) * t);
        mf_rig_step(run, 10);
    }
    mf_check_below(run, "front, RMS of the relative error", 0.08, fit_fronts(&trace, seen, &shift));
    mf_check_near(run, "delay of the gate, in T", seen->delay, shift, seen->delay);
    mf_check_below(run, "front beyond that of Ritter [m]", fluid.spacing, beyond);
}

static void check_dam(mf_CheckRun *run) {
    collapse(run, &martin_and_moyce);
}

static void check_larger_dam(mf_CheckRun *run) {
    collapse(run, &koshizuka_and_oka);
}

// A number in -1 .. 1 for each index.
static double scatter(uint32_t index) {
    uint32_t words[4];
    mf_random(7, index, 1, 0, words);
    return 2.0 * mf_random_unit_double(words[0], words[1]) - 1.0;
}

// Particles with random positions and velocities, without gravity and walls.
static void shake(mf_ParticleRig *rig, double spacing, double speed) {
    for (uint32_t i = 0; i < rig->count; i++) {
        const uint32_t at[3] = {i % 8, i / 8 % 8, i / 64};
        double position[3], velocity[3];
        for (uint32_t c = 0; c < 3; c++) {
            position[c] = 100.0 * (c == 2) + spacing * (at[c] + 0.2 * scatter(6 * i + c));
            velocity[c] = speed * (0.5 + scatter(6 * i + 3 + c));
        }
        mf_particle_rig_put(rig, i, position, velocity);
    }
}

static void report_momentum(mf_CheckRun *run, mf_ParticleRig *rig) {
    double before[3], after[3], worst = 0.0;
    for (int k = 0; k < 50; k++) {
        mf_particle_rig_momentum(rig, before);
        mf_rig_step(run, 1);
        mf_particle_rig_momentum(rig, after);
        for (int c = 0; c < 3; c++)
            worst = mf_check_worse(worst, fabs(after[c] - before[c]) / fabs(before[c]));
    }
    mf_check_below(run, "relative change of momentum in a step", 1e-12, worst);
}

static void check_momentum(mf_CheckRun *run) {
    const Fluid fluid = {0.02, 20.0, 1e-3, 0.1, 2.0, 0.0};
    static const double low[3] = {0.0, 0.0, 100.0};
    static const uint32_t size[3] = {8, 8, 8};
    mf_ParticleRig rig;
    mf_particle_rig_world(&rig, run, step_of(&fluid), 0.0, 0.0);
    add_fluid(run, &rig, &fluid, low, size);
    shake(&rig, fluid.spacing, 1.0);
    report_momentum(run, &rig);
}

// One cell of the vortex u = sin kx cos ky, v = -cos kx sin ky between walls without friction.
static void check_vortex(mf_CheckRun *run) {
    const double pi = 3.14159265358979, side = 1.0, nu = 0.05;
    // Artificial, as walls hold the fluid by the other one; under pressure, so that it has no
    // voids.
    const Fluid fluid = {side / 24.0, 15.0, 0.0, 20.0 * nu / (15.0 * 1.01 * 3.2 * side / 24.0),
                         3.2,         0.01};
    const double a = fluid.spacing, low[3] = {0.0, 0.0, 1.0}, high[3] = {side, side, 1.0 + 4.0 * a};
    static const uint32_t size[3] = {24, 24, 4};
    mf_ParticleRig rig;
    mf_particle_rig_world(&rig, run, step_of(&fluid), 0.0, 0.0);
    mf_particle_rig_tank(&rig, low, high);
    const double roof[2][3] = {{-0.5, -0.5, high[2]}, {side + 0.5, side + 0.5, high[2] + 0.5}};
    mf_particle_rig_box(&rig, roof[0], roof[1]);
    add_fluid(run, &rig, &fluid, low, size);
    for (uint32_t i = 0; i < rig.count; i++) {
        const double x = mf_field_get(rig.position, i, 0), y = mf_field_get(rig.position, i, 1);
        mf_field_set(rig.velocity, i, 0, sin(pi * x) * cos(pi * y));
        mf_field_set(rig.velocity, i, 1, -cos(pi * x) * sin(pi * y));
        mf_field_set(mf_group_find_field(rig.group, "particle.pressure"), i, 0, 6750.0);
    }
    const double start = mf_particle_rig_energy(&rig).kinetic;
    mf_rig_step(run, (uint64_t)(0.3 / step_of(&fluid)));
    const double t = mf_rig_time(run);
    mf_check_near(run, "rate of decay of the energy over 4 nu k^2", 1.0,
                  log(start / mf_particle_rig_energy(&rig).kinetic) / (4.0 * nu * pi * pi * t),
                  0.15);
}

// ---- grains -------------------------------------------------------------------------------------

static const double grain_radius = 0.01, grain_mass = 0.010471975511966; // [m], [kg] 2500 kg/m^3

static void open_grains(mf_ParticleRig *rig, mf_CheckRun *run, uint32_t count, double gravity,
                        double tilt, const mf_MotionsConfig *config) {
    mf_particle_rig_world(rig, run, 1e-3, gravity, tilt);
    mf_particle_rig_particles(rig, count, grain_mass, grain_radius);
    mf_check_must(run, mf_motion_add(rig->group, MF_MOTION_GRAINS, config, &run->error));
    mf_check_must(run, mf_particles_couple(run->rig.world, &run->error));
}

// Down 15 degrees: 5/7 g sin t while it rolls. It begins in contact.
static void check_rolling(mf_CheckRun *run) {
    const double tilt = 0.261799387799149, at[3] = {0.0, 0.0, grain_radius};
    mf_ParticleRig rig;
    mf_MotionsConfig config = mf_motions_config();
    open_grains(&rig, run, 1, 9.81, tilt, &config);
    mf_particle_rig_put(&rig, 0, at, NULL);
    mf_rig_step(run, 1000);
    mf_check_near(run, "rolling 15 degrees down for 1 s [m/s]", 1.8135820,
                  mf_field_get(rig.velocity, 0, 0), 2e-3);
    mf_check_near(run, "distance [m]", 0.9067910, mf_field_get(rig.position, 0, 0), 2e-3);
    config.grains.rolling = 0.3;
    open_grains(&rig, run, 1, 9.81, tilt, &config);
    mf_particle_rig_put(&rig, 0, at, NULL);
    mf_rig_step(run, 500);
    const double x = mf_field_get(rig.position, 0, 0);
    mf_rig_step(run, 1000);
    mf_check_below(run, "creep in 1 s with a resistance above tan 15 deg [m]", 3e-3,
                   fabs(mf_field_get(rig.position, 0, 0) - x));
}

// Thrown at 1 m/s without spin it slides with mu g until it rolls with 5/7 of its speed.
static void check_sliding(mf_CheckRun *run) {
    const double at[3] = {0.0, 0.0, grain_radius}, velocity[3] = {1.0, 0.0, 0.0};
    mf_ParticleRig rig;
    mf_MotionsConfig config = mf_motions_config();
    config.grains.wall_friction = 0.3;
    open_grains(&rig, run, 1, 9.81, 0.0, &config);
    mf_particle_rig_put(&rig, 0, at, velocity);
    mf_rig_step(run, 50);
    mf_check_near(run, "sliding for 0.05 s: 1 - mu g t [m/s]", 0.85285,
                  mf_field_get(rig.velocity, 0, 0), 2e-3);
    mf_rig_step(run, 150);
    mf_check_near(run, "rolling: 5/7 [m/s]", 0.7142857, mf_field_get(rig.velocity, 0, 0), 2e-3);
}

// A bed in a tank that is tilted by 15 degrees, less than the friction angle of 26.6.
static void check_rest(mf_CheckRun *run) {
    const double d = 2.0 * grain_radius, low[3] = {0.0, 0.0, 1.0};
    const double high[3] = {8.2 * d, 8.2 * d, 1.5};
    static const uint32_t size[3] = {8, 8, 5};
    mf_ParticleRig rig;
    mf_MotionsConfig config = mf_motions_config();
    mf_particle_rig_world(&rig, run, 1e-3, 9.81, 0.261799387799149);
    config.grains.stiffness = 5000.0;
    mf_particle_rig_tank(&rig, low, high);
    mf_particle_rig_particles(&rig, 320, grain_mass, grain_radius);
    mf_check_must(run, mf_motion_add(rig.group, MF_MOTION_GRAINS, &config, &run->error));
    mf_particle_rig_fill(&rig, low, size, 1.02 * d);
    mf_check_must(run, mf_particles_couple(run->rig.world, &run->error));
    mf_rig_step(run, 2000);
    mf_check_below(run, "root mean square of the speed after 2 s [m/s]", 1e-4,
                   sqrt(2.0 * mf_particle_rig_energy(&rig).kinetic / (320.0 * grain_mass)));
}

// Two grains meet at 1 m/s in the air.
static void check_impact(mf_CheckRun *run) {
    static const double target[] = {0.9, 0.5, 0.2};
    static const char *const names[] = {"restitution 0.9", "restitution 0.5", "restitution 0.2"};

    for (int k = 0; k < 3; k++) {
        const double left[3] = {0.0, 0.0, 1.0}, right[3] = {0.0201, 0.0, 1.0};
        const double there[3] = {0.5, 0.0, 0.0}, back[3] = {-0.5, 0.0, 0.0};
        mf_ParticleRig rig;
        mf_MotionsConfig config = mf_motions_config();
        config.grains.restitution = target[k];
        open_grains(&rig, run, 2, 0.0, 0.0, &config);
        mf_particle_rig_put(&rig, 0, left, there);
        mf_particle_rig_put(&rig, 1, right, back);
        mf_rig_step(run, 20);
        mf_check_near(run, names[k], target[k],
                      mf_field_get(rig.velocity, 1, 0) - mf_field_get(rig.velocity, 0, 0), 0.02);
    }
}

static void check_grain_momentum(mf_CheckRun *run) {
    mf_ParticleRig rig;
    mf_MotionsConfig config = mf_motions_config();
    open_grains(&rig, run, 512, 0.0, 0.0, &config);
    shake(&rig, 2.05 * grain_radius, 0.5);
    report_momentum(run, &rig);
}

enum { WIDE = 12, TALL = 8, COLUMN = WIDE * WIDE * TALL };
static const double heap_stiffness = 5000.0; // [N/m]

// [J] In the springs of grains, along the normal and the surface.
static double elastic_of(const mf_ParticleRig *rig) {
    const mf_Field *slip = mf_group_find_field(rig->group, "contact.slip");
    double sum = 0.0;
    for (uint32_t i = 0; i < COLUMN; i++) {
        double at[3], shear = 0.0;
        for (uint32_t c = 0; c < 3; c++)
            at[c] = mf_field_get(rig->position, i, c);
        for (uint32_t c = 0; c < slip->components; c++)
            shear += pow(mf_field_get(slip, i, c), 2);
        sum += 0.25 * (2.0 / 7.0) * heap_stiffness * shear; // each belongs to two
        sum += 0.5 * heap_stiffness * pow(fmax(grain_radius - at[2], 0.0), 2);
        for (uint32_t j = 0; j < i; j++) {
            double square = 0.0;
            for (uint32_t c = 0; c < 3; c++)
                square += pow(mf_field_get(rig->position, j, c) - at[c], 2);
            if (square < 4.0 * grain_radius * grain_radius)
                sum += 0.5 * heap_stiffness * pow(2.0 * grain_radius - sqrt(square), 2);
        }
    }
    return sum;
}

// [m] Radius about the axis within which all but 3 % of the grains are.
static double radius_of_heap(const mf_ParticleRig *rig) {
    double low = 0.0, high = 10.0;
    for (int k = 0; k < 40; k++) {
        const double radius = 0.5 * (low + high);
        uint32_t beyond = 0;
        for (uint32_t i = 0; i < COLUMN; i++)
            beyond += hypot(mf_field_get(rig->position, i, 0), mf_field_get(rig->position, i, 1)) >
                      radius;
        if (beyond > COLUMN * 3 / 100)
            low = radius;
        else
            high = radius;
    }
    return high;
}

static void put_column(mf_ParticleRig *rig) {
    for (uint32_t i = 0; i < COLUMN; i++) {
        const double x = i % WIDE - 0.5 * (WIDE - 1), y = i / WIDE % WIDE - 0.5 * (WIDE - 1);
        const double at[3] = {grain_radius * (2.1 * x + 0.05 * scatter(2 * i)),
                              grain_radius * (2.1 * y + 0.05 * scatter(2 * i + 1)),
                              grain_radius * (2.001 * (i / WIDE / WIDE) + 1.0)};
        mf_particle_rig_put(rig, i, at, NULL);
    }
}

// A column of height H and radius r collapses to r + 1.24 H for H < 1.7 r (Lube, Huppert, Sparks
// and Hallworth 2004, for sand). Here r is that of the circle with the area of the column, and a
// diameter of the few grains is 0.13 of its height.
static void check_heap(mf_CheckRun *run) {
    mf_ParticleRig rig;
    mf_MotionsConfig config = mf_motions_config();
    config.grains.rolling = 0.15;
    config.grains.stiffness = heap_stiffness;
    open_grains(&rig, run, COLUMN, 9.81, 0.0, &config);
    put_column(&rig);
    const double start = mf_particle_rig_energy(&rig).potential;
    double most = -INFINITY, before = start;
    for (int k = 0; k < 120; k++) {
        mf_rig_step(run, 10);
        const double now = mf_particle_rig_energy(&rig).kinetic +
                           mf_particle_rig_energy(&rig).potential + elastic_of(&rig);
        most = fmax(most, (now - before) / start);
        before = now;
    }
    mf_check_below(run, "largest rise of the energy in 10 ms, of that at the start", 1e-4, most);
    const double rms = sqrt(2.0 * mf_particle_rig_energy(&rig).kinetic / (COLUMN * grain_mass));
    mf_check_below(run, "root mean square of the speed after 1.2 s [m/s]", 2e-2, rms);
    const double radius = WIDE * 2.1 * grain_radius / sqrt(3.14159265358979);
    mf_check_near(run, "run-out over the height of the column", 1.24,
                  (radius_of_heap(&rig) - radius) / (TALL * 2.0 * grain_radius), 0.35);
}

const mf_CheckCase mf_check_particles_cases[] = {
    {"I1", "a settled fluid bears its weight: p = rho g h", check_hydrostatics},
    {"I2", "a column of water collapses as that of Martin and Moyce", check_dam},
    {"I3", "a larger one as that of Koshizuka and Oka", check_larger_dam},
    {"I5", "a fluid keeps its momentum", check_momentum},
    {"I6", "a vortex decays with 4 nu k^2, at a reach of 3.2", check_vortex},
    {"I9", "a grain rolls down a slope, and rests there with rolling resistance", check_rolling},
    {"I10", "grains bounce by their restitution", check_impact},
    {"I11", "grains keep their momentum", check_grain_momentum},
    {"I12", "a column of grains collapses, gains no energy and comes to rest", check_heap},
    {"I13", "a grain slides, then rolls with 5/7 of its speed", check_sliding},
    {"I14", "a bed of grains rests on a slope", check_rest},
    {NULL, NULL, NULL}};
