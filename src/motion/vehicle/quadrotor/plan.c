// The constants of the quadrotor kernels, from parameters, settings, gravity and step.
//
// The allocation matrix (equation 9 of the paper, for any positions of the rotors) is kept in units
// of acceleration: row 0 thrust per mass, rows 1-3 I^-1 times the torques, per squared rotor speed.
#include "motion/vehicle/quadrotor/motion.h"
#include "base/flat.h"
#include "math/scalar.h"

// Gauss-Jordan with column pivots, on rows that were scaled to a largest value of one. False when
// what is left of a row is rounding.
static bool invert4(double out[16], const double in[16]) {
    double m[4][8];
    for (int row = 0; row < 4; row++) {
        double most = 0.0;
        for (int i = 0; i < 4; i++)
            most = mf_abs(in[4 * row + i]) > most ? mf_abs(in[4 * row + i]) : most;
        if (!(most > 0.0))
            return false;
        for (int i = 0; i < 4; i++) {
            m[row][i] = in[4 * row + i] / most;
            m[row][4 + i] = row == i ? 1.0 / most : 0.0;
        }
    }
    for (int column = 0; column < 4; column++) {
        int pivot = column;
        for (int row = column + 1; row < 4; row++)
            pivot = mf_abs(m[row][column]) > mf_abs(m[pivot][column]) ? row : pivot;
        if (!(mf_abs(m[pivot][column]) > 1e-6))
            return false;
        for (int i = 0; i < 8; i++) {
            double swap = m[pivot][i];
            m[pivot][i] = m[column][i];
            m[column][i] = swap;
        }
        double scale = 1.0 / m[column][column];
        for (int i = 0; i < 8; i++)
            m[column][i] *= scale;
        for (int row = 0; row < 4; row++) {
            double factor = row == column ? 0.0 : m[row][column];
            for (int i = 0; i < 8; i++)
                m[row][i] -= factor * m[column][i];
        }
    }
    for (int row = 0; row < 4; row++)
        for (int i = 0; i < 4; i++)
            out[4 * row + i] = m[row][4 + i];
    return true;
}

bool mf_quadrotor_allocation(const mf_Quadrotor *p, double matrix[16], double inverse[16]) {
    double inverse_inertia[6];
    mf_vehicle_invert(inverse_inertia, p->inertia);
    for (int i = 0; i < 4; i++) {
        // A rotor that turns counterclockwise pushes the body clockwise.
        const double torque[3] = {p->thrust_coefficient * p->rotor_y[i],
                                  -p->thrust_coefficient * p->rotor_x[i],
                                  -p->torque_coefficient * p->rotor_direction[i]};
        double moment[3];
        mf_sym3_apply(moment, inverse_inertia, torque);
        matrix[i] = p->thrust_coefficient / p->mass;
        for (int axis = 0; axis < 3; axis++)
            matrix[4 * (axis + 1) + i] = moment[axis];
    }
    return invert4(inverse, matrix);
}

// ---- constants ----------------------------------------------------------------------------------

// The method's coefficients; the rotors' lag is what the method makes of an exponential.
static void fill_method(const mf_Quadrotor *p, mf_Integrator method, double *c, double h) {
    const double tau = p->motor_time_constant, x = tau > 0.0 ? h / tau : 0.0;
    const bool runge_kutta = method == MF_INTEGRATOR_RK4, heun = method == MF_INTEGRATOR_HEUN;
    const double share = runge_kutta ? 1.0 / 6.0 : heun ? 0.5 : 1.0;
    const double node[4] = {0.0, runge_kutta ? 0.5 : 1.0, 0.5, 1.0};
    c[MF_QUAD_STEP] = h;
    c[MF_QUAD_SHARE] = h * share;
    c[MF_QUAD_ROTATION_SHARE] = 0.5 * h * share;
    c[MF_QUAD_LEAN] = method == MF_INTEGRATOR_EULER ? 0.0 : h * h * share;
    for (int s = 0; s < 4; s++) {
        c[MF_QUAD_NODE + s] = h * node[s];
        c[MF_QUAD_ROTATION_NODE + s] = 0.5 * h * node[s];
    }
    if (!(tau > 0.0))
        return; // no rest of an error at any stage
    c[MF_QUAD_LAG] = 1.0;
    c[MF_QUAD_LAG + 1] = 1.0 - node[1] * x;
    c[MF_QUAD_LAG + 2] = 1.0 - 0.5 * x * c[MF_QUAD_LAG + 1];
    c[MF_QUAD_LAG + 3] = 1.0 - x * c[MF_QUAD_LAG + 2];
    if (runge_kutta)
        c[MF_QUAD_LAG + 4] = 1.0 - x * (1.0 - x / 2.0 * (1.0 - x / 3.0 * (1.0 - x / 4.0)));
    else
        c[MF_QUAD_LAG + 4] = heun ? 1.0 - x * (1.0 - x / 2.0) : 1.0 - x;
}

static void fill_body(const mf_Quadrotor *p, double *c, double gravity, double h,
                      const double matrix[16]) {
    const double *i = p->inertia;
    c[MF_QUAD_GRAVITY] = -gravity;
    c[MF_QUAD_LIFT] = 2.0 * matrix[0];
    memcpy(c + MF_QUAD_TORQUE, matrix + 4, 12 * sizeof *c);
    c[MF_QUAD_GYRO] = (i[1] - i[2]) / i[0];
    c[MF_QUAD_GYRO + 1] = (i[2] - i[0]) / i[1];
    c[MF_QUAD_GYRO + 2] = (i[0] - i[1]) / i[2];
    memcpy(c + MF_QUAD_INERTIA, i, 6 * sizeof *c);
    mf_vehicle_invert(c + MF_QUAD_INVERSE, i);
    c[MF_QUAD_INVERSE_MASS] = 1.0 / p->mass;
    memcpy(c + MF_QUAD_ROTOR_X, p->rotor_x, 4 * sizeof *c);
    memcpy(c + MF_QUAD_ROTOR_Y, p->rotor_y, 4 * sizeof *c);
    memcpy(c + MF_QUAD_ROTOR_DRAG, p->rotor_drag, 3 * sizeof *c);
    memcpy(c + MF_QUAD_BODY_DRAG, p->body_drag, 3 * sizeof *c);
    double fastest = 1.0 / h < 1e4 ? 1.0 / h : 1e4;
    c[MF_QUAD_POSITION_MOST] = 1e14;
    c[MF_QUAD_SPEED_MOST] = 1e8;
    c[MF_QUAD_RATE_MOST] = fastest * fastest;
}

static void fill_mixer(const mf_Quadrotor *p, double *c, const double inverse[16]) {
    const double low = p->rotor_speed_min * p->rotor_speed_min;
    const double high = p->rotor_speed_max * p->rotor_speed_max;
    c[MF_QUAD_ROTOR_LOW] = p->rotor_speed_min;
    c[MF_QUAD_ROTOR_HIGH] = p->rotor_speed_max;
    c[MF_QUAD_SQUARE_LOW] = low;
    c[MF_QUAD_SQUARE_HIGH] = high;
    for (int i = 0; i < 4; i++) {
        // Lift is twice the thrust per mass.
        const double row[4] = {0.5 * inverse[4 * i], inverse[4 * i + 1], inverse[4 * i + 2],
                               inverse[4 * i + 3]};
        memcpy(c + MF_QUAD_MIX + 4 * i, row, sizeof row);
        c[MF_QUAD_MIX_LIFT + i] = 1.0 / row[0];
        // Rotors that yaw hardly needs set it no limit.
        double most = 0.0;
        for (int k = 0; k < 4; k++)
            most = mf_abs(inverse[4 * k + 3]) > most ? mf_abs(inverse[4 * k + 3]) : most;
        const bool used = mf_abs(row[3]) > 1e-6 * most;
        const double yaw = used ? 1.0 / row[3] : 0.0;
        c[MF_QUAD_MIX_YAW + i] = yaw;
        c[MF_QUAD_YAW_LOW + i] = used ? yaw * (yaw > 0.0 ? low : high) : -1e30;
        c[MF_QUAD_YAW_HIGH + i] = used ? yaw * (yaw > 0.0 ? high : low) : 1e30;
    }
}

static void fill_rates(const mf_Quadrotor *p, double *c, double tick) {
    const double band[3] = {p->rate_bandwidth, p->rate_bandwidth, p->yaw_rate_bandwidth};
    double lead = p->rate_lead;
    if (lead == 0.0)
        lead = 3.0 * p->rate_bandwidth * p->motor_time_constant;
    c[MF_QUAD_LEAD] = lead > 1.0 ? lead - 1.0 : 0.0;
    for (int i = 0; i < 3; i++) {
        c[MF_QUAD_RATE_GAIN + i] = band[i];
        c[MF_QUAD_RATE_INTEGRAL + i] = band[i] * p->rate_integral * tick;
        c[MF_QUAD_RATE_BOUND + i] = band[i]; // what an error of 1 rad/s requests
    }
}

static void fill_bounds(const mf_Quadrotor *p, mf_QuadrotorCommand command, double *c,
                        double most_thrust) {
    const double slack = 1.0 + 1e-6, angle = 2.0 * MF_PI;
    const double table[5][4] = {
        {p->rotor_speed_max, p->rotor_speed_max, p->rotor_speed_max, p->rotor_speed_max},
        {p->rate_max, p->rate_max, p->yaw_rate_max, most_thrust},
        {MF_PI, 0.5 * MF_PI, angle, most_thrust},
        {1e3, 1e3, 1e3, angle},
        {1e6, 1e6, 1e6, angle}};
    for (int i = 0; i < 4; i++) {
        bool positive =
            command == MF_QUADROTOR_ROTORS || (i == 3 && command <= MF_QUADROTOR_ATTITUDE);
        c[MF_QUAD_BOUND_HIGH + i] = table[command][i] * slack;
        c[MF_QUAD_BOUND_LOW + i] = positive ? 0.0 : -c[MF_QUAD_BOUND_HIGH + i];
    }
}

static void fill_guide(const mf_Quadrotor *p, double *c, double gravity, double tick, double most) {
    double sine, cosine;
    mf_sin_cos(p->tilt_max, &sine, &cosine);
    c[MF_QUAD_LIFT_PER_FORCE] = 2.0 / p->mass;
    // A tenth of the thrust is left to the loops below.
    c[MF_QUAD_LIFT_MOST] = 2.0 * 0.9 * most;
    c[MF_QUAD_ATTITUDE_GAIN] = p->attitude_bandwidth;
    c[MF_QUAD_YAW_GAIN] = p->yaw_bandwidth;
    c[MF_QUAD_RATE_MAX] = p->rate_max;
    c[MF_QUAD_YAW_RATE_MAX] = p->yaw_rate_max;
    c[MF_QUAD_VELOCITY_GAIN] = p->velocity_bandwidth;
    c[MF_QUAD_VELOCITY_INTEGRAL] = p->velocity_bandwidth * p->velocity_integral * tick;
    c[MF_QUAD_VELOCITY_BOUND] = 5.0; // half of the weight on Earth, for any wind that it can hold
    c[MF_QUAD_POSITION_GAIN] = p->position_bandwidth;
    c[MF_QUAD_SPEED_MAX] = p->speed_max;
    c[MF_QUAD_CLIMB_MAX] = p->climb_max;
    c[MF_QUAD_TILT] = sine / cosine;
    c[MF_QUAD_RISE_HIGH] = 0.9 * most;
    double low = 0.3 * gravity < 0.25 * most ? 0.3 * gravity : 0.25 * most;
    c[MF_QUAD_RISE_LOW] = low > 0.01 * most ? low : 0.01 * most;
}

// The largest float whose root does not exceed `speed`, so that no rotor is asked for more.
static float square_within(float speed) {
    float square = speed * speed;
    while (square > 0.0f && __builtin_sqrtf(square) > speed)
        square = square * (1.0f - 6e-8f);
    return square;
}

static void fill_flags(mf_QuadrotorPlan *plan, const mf_Quadrotor *p) {
    plan->full_inertia = p->inertia[3] != 0.0 || p->inertia[4] != 0.0 || p->inertia[5] != 0.0;
    for (int i = 0; i < 3; i++) {
        plan->rotor_drag |= p->rotor_drag[i] > 0.0;
        plan->body_drag |= p->body_drag[i] > 0.0;
    }
    plan->plain = plan->integrator == MF_INTEGRATOR_RK4 && !plan->full_inertia &&
                  !plan->rotor_drag && !plan->body_drag && p->motor_time_constant > 0.0;
    plan->integral = p->rate_integral > 0.0 && plan->command != MF_QUADROTOR_ROTORS;
    plan->swift =
        plan->plain && plan->integral && plan->interval == 1 && plan->command == MF_QUADROTOR_RATES;
}

static void fill_constants(mf_QuadrotorPlan *plan, const mf_Quadrotor *p, double gravity,
                           double h) {
    double *c = plan->constants_f64, matrix[16], inverse[16];
    const double most =
        4.0 * p->thrust_coefficient * p->rotor_speed_max * p->rotor_speed_max / p->mass;
    mf_quadrotor_allocation(p, matrix, inverse);
    fill_method(p, plan->integrator, c, h);
    fill_body(p, c, gravity, h, matrix);
    fill_mixer(p, c, inverse);
    fill_rates(p, c, h * plan->interval);
    fill_bounds(p, plan->command, c, most * p->mass);
    fill_guide(p, c, gravity, h * plan->outer_interval, most);
    for (int i = 0; i < MF_QUAD_CONSTANTS; i++)
        plan->constants_f32[i] = (float)c[i];
    plan->constants_f32[MF_QUAD_SQUARE_HIGH] = square_within((float)p->rotor_speed_max);
}

mf_Status mf_quadrotor_plan_create(mf_Context *context, const mf_Quadrotor *parameters,
                                   const mf_QuadrotorConfig *config, double gravity, mf_Time step,
                                   const mf_QuadrotorPlan **out, mf_Error *error) {
    mf_QuadrotorPlan plan = {
        .command = config->command, .integrator = config->integrator, .interval = 1};
    if (config->control_interval > step)
        plan.interval = (uint32_t)(config->control_interval / step);
    plan.outer_interval = plan.interval;
    if (config->outer_interval > 0)
        plan.outer_interval = (uint32_t)(config->outer_interval / step);
    fill_flags(&plan, parameters);
    fill_constants(&plan, parameters, gravity, mf_time_to_seconds(step));
    void *image;
    mf_Status status = mf_flat_pack(context, &plan, sizeof plan, NULL, 0, &image, error);
    *out = image;
    return status;
}
