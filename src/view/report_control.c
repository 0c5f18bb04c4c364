// The champion's controller in readable form: a machine-code program line by line with the names of
// the robot's joints and sensors, or the waves of oscillators.
#include "control/gp.h"
#include "model/points.h"
#include "model/sensor_kind.h"
#include "view/report_data.h"

#include <stdio.h>
#include <string.h>

#define MACHINE_VALUES 256u // [1] of the accumulator

// ---- machine-code programs ---------------------------------------------------------------------

static const char *sensor_name(const mf_Model *model, mf_SensorType type, uint32_t number) {
    for (uint32_t i = 0; i < model->sensor_count; i++)
        if (model->sensors[i].type == type && number-- == 0)
            return model->sensors[i].name;
    return "?";
}

// Sensors are numbered: contacts, rays, one angle for each joint, roll, pitch, yaw.
static void explain_sensor(mf_Text *text, const mf_ReportData *data, uint32_t operand) {
    const mf_Model *model = data->scene.model;
    static const char *const attitude[3] = {"roll", "pitch", "yaw"};
    uint32_t contacts = mf_sensors_of_type(model, MF_SENSOR_CONTACT);
    uint32_t rays = mf_sensors_of_type(model, MF_SENSOR_RAY);
    uint32_t angles = contacts + rays + model->joint_count;
    uint32_t number = mf_gp_resolve(operand, angles + 3, data->file->groups[0].gp.unknown);
    mf_text_put(text, "acc = ");
    if (number == MF_NONE) {
        mf_text_put(text, "0 (no such sensor)");
    } else if (number < contacts) {
        mf_text_put(text, "contact of ");
        mf_text_escape(text, sensor_name(model, MF_SENSOR_CONTACT, number));
        mf_text_put(text, ": 1 or 0");
    } else if (number < contacts + rays) {
        mf_text_put(text, "distance of ray ");
        mf_text_escape(text, sensor_name(model, MF_SENSOR_RAY, number - contacts));
        mf_text_put(text, " [cm]");
    } else if (number < angles) {
        mf_text_put(text, "angle of ");
        mf_text_escape(text, model->joints[number - contacts - rays].name);
        mf_text_put(text, " [degree]");
    } else {
        mf_text_format(text, "%s of the body [degree]", attitude[number - angles]);
    }
}

// How many values a sensor can put into the accumulator: 1 (always 0), 2 (0 or 1) or all 256.
static uint32_t sensor_values(const mf_ReportData *data, uint32_t operand) {
    const mf_Model *model = data->scene.model;
    uint32_t contacts = mf_sensors_of_type(model, MF_SENSOR_CONTACT);
    uint32_t count = contacts + mf_sensors_of_type(model, MF_SENSOR_RAY) + model->joint_count + 3;
    uint32_t number = mf_gp_resolve(operand, count, data->file->groups[0].gp.unknown);
    return number == MF_NONE ? 1 : number < contacts ? 2 : MACHINE_VALUES;
}

// The visited states (address, accumulator) of a machine and those still to be expanded.
typedef struct Explorer {
    bool seen[MF_GP_BYTES][MACHINE_VALUES];
    uint16_t open[MF_GP_BYTES * MACHINE_VALUES];
    uint32_t count; // [1] in `open`
} Explorer;

static void explore(Explorer *explorer, uint32_t address, uint32_t accumulator) {
    address %= MF_GP_BYTES;
    accumulator %= MACHINE_VALUES;
    if (explorer->seen[address][accumulator])
        return;
    explorer->seen[address][accumulator] = true;
    explorer->open[explorer->count++] = (uint16_t)(address * MACHINE_VALUES + accumulator);
}

static void explore_next(Explorer *explorer, const mf_ReportData *data, uint32_t address,
                         uint32_t accumulator) {
    uint32_t operand = data->genome[address] & 31u;
    uint32_t opcode = data->genome[address] >> 5, values = 0;
    if (opcode == MF_GP_SENSOR) {
        values = sensor_values(data, operand);
        for (uint32_t value = 0; value < values; value++)
            explore(explorer, address + 1, value);
        return;
    }
    if (opcode == MF_GP_JUMP && accumulator != 0)
        address = operand + MF_GP_BYTES - 1;
    accumulator = opcode == MF_GP_LOAD  ? operand
                  : opcode == MF_GP_NOT ? ~accumulator
                  : opcode == MF_GP_INC ? accumulator + 1
                  : opcode == MF_GP_DEC ? accumulator - 1
                                        : accumulator;
    explore(explorer, address + 1, accumulator);
}

// Marks the addresses that the program can reach for any sensor values: every state of address and
// accumulator is expanded once, from the start (0, 0).
static bool find_reachable(const mf_ReportData *data, bool reachable[MF_GP_BYTES]) {
    Explorer *explorer = mf_allocate(data->context, 1, sizeof *explorer);
    if (explorer == NULL)
        return false;
    explore(explorer, 0, 0);
    while (explorer->count > 0) {
        uint32_t state = explorer->open[--explorer->count];
        reachable[state / MACHINE_VALUES] = true;
        explore_next(explorer, data, state / MACHINE_VALUES, state % MACHINE_VALUES);
    }
    mf_release(data->context, explorer);
    return true;
}

static const mf_Joint *find_motor(const mf_Model *model, uint32_t operand, mf_GpUnknown unknown) {
    uint32_t motors = 0;
    for (uint32_t i = 0; i < model->joint_count; i++)
        motors += mf_joint_has_motor(&model->joints[i]);
    uint32_t motor = mf_gp_resolve(operand, motors, unknown);
    for (uint32_t i = 0; motor != MF_NONE && i < model->joint_count; i++)
        if (mf_joint_has_motor(&model->joints[i]) && motor-- == 0)
            return &model->joints[i];
    return NULL;
}

static void explain_motor(mf_Text *text, const mf_ReportData *data, uint32_t operand,
                          const char *direction) {
    const mf_Joint *joint =
        find_motor(data->scene.model, operand, data->file->groups[0].gp.unknown);
    if (joint == NULL) {
        mf_text_put(text, "nothing (no such motor)");
        return;
    }
    mf_text_escape(text, joint->name);
    bool slide = joint->type == MF_JOINT_SLIDE;
    mf_text_format(text, " %s%g %s", direction, data->file->groups[0].gp.angle_per_move,
                   slide ? "m" : "rad");
}

static void explain(mf_Text *text, const mf_ReportData *data, uint8_t instruction) {
    uint32_t operand = instruction & 31u;
    switch ((mf_GpOpcode)(instruction >> 5)) {
    case MF_GP_LEFT:
        explain_motor(text, data, operand, "\xe2\x88\x92");
        break;
    case MF_GP_RIGHT:
        explain_motor(text, data, operand, "+");
        break;
    case MF_GP_SENSOR:
        explain_sensor(text, data, operand);
        break;
    case MF_GP_LOAD:
        mf_text_format(text, "acc = %u", operand);
        break;
    case MF_GP_JUMP:
        mf_text_format(text, "if acc is not 0, jump to %02u", operand);
        break;
    case MF_GP_NOT:
        mf_text_put(text, "acc = acc with all bits inverted");
        break;
    case MF_GP_INC:
        mf_text_put(text, "acc + 1");
        break;
    case MF_GP_DEC:
        mf_text_put(text, "acc \xe2\x88\x92 1");
        break;
    }
}

// One row: address, the disassembler's line without its address, meaning.
static void put_instruction(mf_Text *text, const mf_ReportData *data, uint32_t address,
                            const char *line, size_t length, bool reachable) {
    const char *end = line + length;
    while (line < end && (*line == ' ' || (*line >= '0' && *line <= '9')))
        line++;
    char mnemonic[64];
    snprintf(mnemonic, sizeof mnemonic, "%.*s", (int)(end - line), line);
    mf_text_format(text, "<tr%s><td>%02u</td><td>", reachable ? "" : " class=\"never\"", address);
    mf_text_escape(text, mnemonic);
    mf_text_put(text, "</td><td>");
    explain(text, data, data->genome[address]);
    mf_text_put(text, "</td></tr>\n");
}

static void put_listing(mf_Text *text, const mf_ReportData *data,
                        const bool reachable[MF_GP_BYTES]) {
    char listing[2048];
    mf_gp_disassemble(data->genome, listing, sizeof listing);
    mf_text_put(text, "<div class=\"pair\">\n<table class=\"program\">\n");
    const char *line = listing;
    for (uint32_t address = 0; address < MF_GP_BYTES; address++) {
        size_t length = strcspn(line, "\n");
        if (address == MF_GP_BYTES / 2)
            mf_text_put(text, "</table>\n<table class=\"program\">\n");
        put_instruction(text, data, address, line, length, reachable[address]);
        line += length + (line[length] == '\n');
    }
    mf_text_put(text, "</table>\n</div>\n");
}

static void put_program(mf_Text *text, const mf_ReportData *data) {
    const mf_GpConfig *gp = &data->file->groups[0].gp;
    bool reachable[MF_GP_BYTES] = {false};
    if (!find_reachable(data, reachable))
        text->failed = true;
    uint32_t used = 0, moves = 0, questions = 0;
    for (uint32_t i = 0; i < MF_GP_BYTES; i++) {
        uint32_t opcode = data->genome[i] >> 5;
        used += reachable[i];
        moves += reachable[i] && (opcode == MF_GP_LEFT || opcode == MF_GP_RIGHT);
        questions += reachable[i] && opcode == MF_GP_SENSOR;
    }
    mf_text_format(
        text,
        "<p>Every %s ms the robot's machine executes the next %u instructions. It has one "
        "accumulator (acc) of 8 bits; after address 31 it continues at 00. <b>%u of the 32 "
        "instructions are reachable</b> (the others are pale): %u of them move a joint's target, "
        "%u read a sensor.",
        mf_text_measure(1000.0 * (double)gp->rate.denominator / (double)gp->rate.numerator).text,
        gp->instructions_per_tick, used, moves, questions);
    if (questions == 0)
        mf_text_put(text, " It uses no sensors: a fixed sequence of moves.");
    mf_text_put(text, "</p>\n");
    put_listing(text, data, reachable);
}

// ---- oscillators -------------------------------------------------------------------------------

static double wave_value(const mf_ReportData *data, const char *field, uint32_t joint) {
    const mf_Field *values = mf_group_find_field(data->scene.group, field);
    return values == NULL || joint >= values->components ? 0.0 : mf_field_get(values, 0, joint);
}

static void put_waves(mf_Text *text, const mf_ReportData *data) {
    const mf_Model *model = data->scene.model;
    mf_text_format(text,
                   "<p>Each joint follows a sine wave of <b>%s Hz</b>; only offset, amplitude and "
                   "phase differ. No sensor is used.</p>\n<table>\n<tr><th>joint</th><td "
                   "class=\"num\">offset [rad]</td><td class=\"num\">amplitude [rad]</td><td "
                   "class=\"num\">phase [turns]</td></tr>\n",
                   mf_text_measure(wave_value(data, "oscillator.frequency", 0)).text);
    for (uint32_t i = 0; i < model->joint_count; i++) {
        mf_text_put(text, "<tr><th>");
        mf_text_escape(text, model->joints[i].name);
        mf_text_format(text,
                       "</th><td class=\"num\">%.3f</td><td class=\"num\">%.3f</td>"
                       "<td class=\"num\">%.3f</td></tr>\n",
                       wave_value(data, "oscillator.offset", i),
                       wave_value(data, "oscillator.amplitude", i),
                       wave_value(data, "oscillator.phase", i));
    }
    mf_text_put(text, "</table>\n");
}

void mf_report_control(mf_Text *text, const mf_ReportData *data) {
    switch (data->file->groups[0].controller) {
    case MF_CONTROLLER_GP:
        put_program(text, data);
        break;
    case MF_CONTROLLER_OSCILLATOR:
        put_waves(text, data);
        break;
    case MF_CONTROLLER_MACHINE: // its page has a section of its own for the network
        break;
    case MF_CONTROLLER_NONE:
        mf_text_put(text, data->file->hooks.apply_genome == NULL
                              ? "<p>This robot has no controller.</p>\n"
                              : "<p>The controller is a function of the program that ran the "
                                "evolution.</p>\n");
        break;
    }
}
