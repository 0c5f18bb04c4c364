// Serial ports of a server (serial.h).
//
// The server keeps the far side of a pseudo terminal open, so that programs may come and go. Nobody
// is waited for: what a reader does not take is dropped, as on a wire.
#define _GNU_SOURCE // accept4, posix_openpt, ptsname_r, cfmakeraw
#include "serve/serial.h"
#include "serve/dynamixel.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define BUSY (4 * MF_MILLISECOND) // between two moves of targets

typedef struct Port {
    mf_Dynamixel *bus;
    int stream;    // of the bytes; -1: nobody is connected
    int far;       // the other side of a pseudo terminal; -1: TCP
    int listener;  // of TCP; -1: a pseudo terminal
    char path[64]; // of the pseudo terminal
    const char *link;
    char description[256];
} Port;

struct mf_SerialPorts {
    mf_Context *context;
    uint32_t count;
    Port *ports;
};

// ---- opening -----------------------------------------------------------------------------------

static mf_Status fail_port(mf_Error *error, const char *text, const char *what) {
    return mf_fail(error, MF_IO, "--serial %s: cannot %s: %s", text, what, strerror(errno));
}

// Finds the robot of "group", "group[2]", "group=..." or "group[2]=...".
static mf_Status find_robot(mf_World *world, const char *text, mf_Group **group, uint32_t *instance,
                            mf_Error *error) {
    const size_t length = strcspn(text, "[=");
    *group = NULL;
    for (uint32_t g = 0; g < mf_world_group_count(world); g++) {
        const char *name = mf_group_config_of(mf_world_group(world, g))->name;
        if (strlen(name) == length && strncmp(name, text, length) == 0)
            *group = mf_world_group(world, g);
    }
    if (*group == NULL)
        return mf_fail(error, MF_NOT_FOUND, "--serial %s: there is no group %.*s", text,
                       (int)length, text);
    const uint32_t count = mf_group_count(*group);
    char *end = (char *)text + length;
    *instance = 0;
    if (*end == '[') {
        const unsigned long number = strtoul(text + length + 1, &end, 10);
        if (end == text + length + 1 || text[length + 1] == '-' || *end != ']')
            return mf_fail(error, MF_BAD_ARGUMENT, "--serial %s: expected GROUP[NUMBER]", text);
        if (number >= count)
            return mf_fail(error, MF_NOT_FOUND, "--serial %s: group %.*s has robots 0 .. %u", text,
                           (int)length, text, count - 1);
        *instance = (uint32_t)number;
        end++;
    } else if (count > 1) {
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "--serial %s: group %.*s has %u robots; name one, as %.*s[0]", text,
                       (int)length, text, count, (int)length, text);
    }
    if (*end != '\0' && *end != '=')
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "--serial %s: expected ROBOT, ROBOT=PATH or ROBOT=tcp:PORT", text);
    return MF_OK;
}

static mf_Status open_terminal(Port *port, const char *text, mf_Error *error) {
    struct termios raw;
    port->stream = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (port->stream < 0 || grantpt(port->stream) != 0 || unlockpt(port->stream) != 0 ||
        ptsname_r(port->stream, port->path, sizeof port->path) != 0)
        return fail_port(error, text, "open a pseudo terminal");
    port->far = open(port->path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (port->far < 0 || tcgetattr(port->far, &raw) != 0)
        return fail_port(error, text, "open its pseudo terminal");
    cfmakeraw(&raw);
    if (tcsetattr(port->far, TCSANOW, &raw) != 0)
        return fail_port(error, text, "set up its pseudo terminal");
    return MF_OK;
}

// A link that is there already is replaced; a file or folder is not.
static mf_Status make_link(Port *port, const char *text, const char *path, mf_Error *error) {
    struct stat found;
    if (lstat(path, &found) == 0 && !S_ISLNK(found.st_mode))
        return mf_fail(error, MF_BAD_ARGUMENT, "--serial %s: %s exists, and is no link", text,
                       path);
    if (unlink(path) != 0 && errno != ENOENT)
        return fail_port(error, text, "replace the link");
    if (symlink(port->path, path) != 0)
        return fail_port(error, text, "make the link");
    port->link = path;
    return MF_OK;
}

static mf_Status open_socket(Port *port, const char *text, const char *number, mf_Error *error) {
    char *end;
    const unsigned long needed = strtoul(number, &end, 10);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int on = 1;
    if (end == number || *end != '\0' || *number == '-' || needed > 65535)
        return mf_fail(error, MF_BAD_ARGUMENT, "--serial %s: expected a port of 0 .. 65535", text);
    address.sin_port = htons((uint16_t)needed);
    port->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (port->listener < 0)
        return fail_port(error, text, "open a socket");
    setsockopt(port->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(port->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(port->listener, 4) != 0 ||
        getsockname(port->listener, (struct sockaddr *)&address, &size) != 0)
        return fail_port(error, text, "listen there");
    snprintf(port->path, sizeof port->path, "tcp 127.0.0.1:%u", ntohs(address.sin_port));
    return MF_OK;
}

static mf_Status open_port(mf_SerialPorts *ports, mf_World *world, Port *port, const char *text,
                           mf_Error *error) {
    mf_Group *group;
    uint32_t instance = 0;
    const char *location = strchr(text, '=');
    mf_Status status = find_robot(world, text, &group, &instance, error);
    if (status == MF_OK)
        status = mf_dynamixel_create(ports->context, group, instance, &port->bus, error);
    if (status != MF_OK)
        return status;
    location = location != NULL ? location + 1 : NULL;
    if (location != NULL && strncmp(location, "tcp:", 4) == 0)
        status = open_socket(port, text, location + 4, error);
    else
        status = open_terminal(port, text, error);
    if (status == MF_OK && location != NULL && port->listener < 0)
        status = make_link(port, text, location, error);
    snprintf(port->description, sizeof port->description, "%s[%u] at %s%s%s, %u servos",
             mf_group_config_of(group)->name, instance, port->path, port->link != NULL ? " = " : "",
             port->link != NULL ? port->link : "", port->bus->servo_count);
    return status;
}

mf_Status mf_serial_open(mf_Context *context, mf_World *world, const char *const *texts,
                         uint32_t count, mf_SerialPorts **out, mf_Error *error) {
    *out = NULL;
    if (count == 0)
        return MF_OK;
    mf_SerialPorts *ports = mf_allocate(context, 1, sizeof *ports);
    if (ports == NULL)
        return mf_fail(error, MF_NO_MEMORY, "serial: out of memory");
    ports->context = context;
    ports->ports = mf_allocate(context, count, sizeof *ports->ports);
    mf_Status status =
        ports->ports != NULL ? MF_OK : mf_fail(error, MF_NO_MEMORY, "serial: out of memory");
    for (uint32_t p = 0; p < count && status == MF_OK; p++) {
        Port *port = &ports->ports[ports->count++];
        port->stream = port->far = port->listener = -1;
        status = open_port(ports, world, port, texts[p], error);
    }
    if (status != MF_OK)
        mf_serial_close(ports);
    else
        *out = ports;
    return status;
}

static void close_file(int *file) {
    if (*file >= 0)
        close(*file);
    *file = -1;
}

// The link is removed if it still is this port's.
static void remove_link(const Port *port) {
    char target[sizeof port->path];
    const ssize_t size = readlink(port->link, target, sizeof target);
    if (size == (ssize_t)strlen(port->path) && memcmp(target, port->path, (size_t)size) == 0)
        unlink(port->link);
}

void mf_serial_close(mf_SerialPorts *ports) {
    if (ports == NULL)
        return;
    for (uint32_t p = 0; p < ports->count; p++) {
        Port *port = &ports->ports[p];
        if (port->link != NULL)
            remove_link(port);
        close_file(&port->stream);
        close_file(&port->far);
        close_file(&port->listener);
        mf_dynamixel_destroy(port->bus);
    }
    mf_release(ports->context, ports->ports);
    mf_release(ports->context, ports);
}

// ---- serving -----------------------------------------------------------------------------------

uint32_t mf_serial_count(const mf_SerialPorts *ports) {
    return ports != NULL ? ports->count : 0;
}

const char *mf_serial_describe(const mf_SerialPorts *ports, uint32_t port) {
    return ports->ports[port].description;
}

void mf_serial_polls(const mf_SerialPorts *ports, struct pollfd *out) {
    for (uint32_t p = 0; p < mf_serial_count(ports); p++) {
        *out++ = (struct pollfd){.fd = ports->ports[p].stream, .events = POLLIN};
        *out++ = (struct pollfd){.fd = ports->ports[p].listener, .events = POLLIN};
    }
}

// Who comes last has the bus: a program that is gone cannot keep it.
static void take_over(Port *port) {
    const int on = 1, stream = accept4(port->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (stream < 0)
        return;
    setsockopt(stream, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    close_file(&port->stream);
    port->stream = stream;
    port->bus->in_size = 0;
}

static void answer(Port *port, double clock) {
    uint8_t bytes[1024];
    const ssize_t size = read(port->stream, bytes, sizeof bytes);
    if (size <= 0) {
        const bool waits = size < 0 && (errno == EAGAIN || errno == EINTR);
        if (!waits && port->listener >= 0)
            close_file(&port->stream);
        return;
    }
    mf_dynamixel_feed(port->bus, bytes, (size_t)size, clock);
    uint32_t sent = 0;
    while (sent < port->bus->out_size) {
        const uint8_t *rest = port->bus->out + sent;
        const size_t left = port->bus->out_size - sent;
        const ssize_t done = port->listener >= 0 ? send(port->stream, rest, left, MSG_NOSIGNAL)
                                                 : write(port->stream, rest, left);
        if (done <= 0)
            break;
        sent += (uint32_t)done;
    }
    port->bus->out_size = 0;
}

void mf_serial_answer(mf_SerialPorts *ports, const struct pollfd *polls, double clock) {
    for (uint32_t p = 0; p < mf_serial_count(ports); p++, polls += MF_SERIAL_POLLS) {
        Port *port = &ports->ports[p];
        if (polls[0].revents != 0 && port->stream == polls[0].fd)
            answer(port, clock);
        if (polls[1].revents != 0)
            take_over(port);
    }
}

void mf_serial_advance(mf_SerialPorts *ports, mf_Time time) {
    for (uint32_t p = 0; p < mf_serial_count(ports); p++)
        mf_dynamixel_advance(ports->ports[p].bus, time);
}

mf_Time mf_serial_patience(const mf_SerialPorts *ports) {
    for (uint32_t p = 0; p < mf_serial_count(ports); p++)
        if (mf_dynamixel_is_busy(ports->ports[p].bus))
            return BUSY;
    return INT64_MAX;
}
