// Serial ports of a server: pseudo terminals or TCP byte streams on which the joints of a robot
// answer as Dynamixel servos (dynamixel.h, docs/how_to/hardware.md).
#ifndef MAYFLY_SERVE_SERIAL_H
#define MAYFLY_SERVE_SERIAL_H

#include <mayfly/world.h>

#include <poll.h>

enum { MF_SERIAL_POLLS = 2 }; // [1] entries of poll() for each port

typedef struct mf_SerialPorts mf_SerialPorts;

// Opens a port for each text "ROBOT" (a pseudo terminal), "ROBOT=PATH" (the same, with a symbolic
// link to it) or "ROBOT=tcp:PORT" (on the loopback interface; port 0: a free one). ROBOT is a group
// with one robot, or "group[2]". MF_NOT_FOUND, MF_BAD_ARGUMENT: a text; MF_IO: a port.
mf_Status mf_serial_open(mf_Context *context, mf_World *world, const char *const *texts,
                         uint32_t count, mf_SerialPorts **out, mf_Error *error);
void mf_serial_close(mf_SerialPorts *ports); // NULL is fine; removes the links

uint32_t mf_serial_count(const mf_SerialPorts *ports); // 0 for NULL
// "robot[0] at /dev/pts/5, 21 servos"
const char *mf_serial_describe(const mf_SerialPorts *ports, uint32_t port);

// What poll() shall look at: MF_SERIAL_POLLS entries for each port.
void mf_serial_polls(const mf_SerialPorts *ports, struct pollfd *out);
// Answers what has come, after poll().
void mf_serial_answer(mf_SerialPorts *ports, const struct pollfd *polls, double clock);
// The time of the world is `time`.
void mf_serial_advance(mf_SerialPorts *ports, mf_Time time);
// [ns] of simulated time until mf_serial_advance should be called again; INT64_MAX: any.
mf_Time mf_serial_patience(const mf_SerialPorts *ports);

#endif
