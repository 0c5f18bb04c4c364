// Bags of ROS 2: messages in CDR (OMG DDS-XTypes 1.3, 7.4), in the table `messages` of a SQLite
// file or in MCAP. Columns of them:
//
//   sensor_msgs/JointState        JOINT.position, .velocity, .effort; JOINT.command of a topic
//   whose
//                                 name has command, target, desired or reference in it
//   sensor_msgs/Imu               TOPIC.angular_velocity.x, TOPIC.linear_acceleration.x, ...
//   trajectory_msgs/JointTrajectory   JOINT.command, of its points at their times
//   std_msgs/Float64MultiArray    TOPIC[0], ...
//
// Times are those of headers, or of the bag where there is none. Messages of other types are not
// read. Every length is checked against what is left.
#include "record/log.h"

#include "math/scalar.h"
#include "record/recording.h"
#include "search/database.h"

#include <stdio.h>
#include <string.h>

enum { NAMES = 256 }; // [1] joints of a message

typedef struct Message {
    const uint8_t *data;
    size_t size, at; // [byte] behind the head of four
    bool bad, swapped;
} Message;

static const void *take(Message *message, size_t align, size_t size) {
    const size_t at = (message->at + align - 1) / align * align;
    message->bad = message->bad || at > message->size || size > message->size - at;
    if (message->bad)
        return NULL;
    message->at = at + size;
    return message->data + at;
}

static uint32_t whole(Message *message) {
    const uint8_t *at = take(message, 4, 4);
    if (at == NULL)
        return 0;
    return message->swapped
               ? (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]
               : (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

static double real(Message *message) {
    uint8_t bytes[8];
    double value;
    const uint8_t *at = take(message, 8, 8);
    if (at == NULL)
        return 0.0;
    for (int i = 0; i < 8; i++)
        bytes[i] = at[message->swapped ? 7 - i : i];
    memcpy(&value, bytes, sizeof value);
    return value;
}

static const char *string(Message *message) {
    const uint32_t size = whole(message);
    const char *at = take(message, 1, size);
    message->bad = message->bad || size == 0 || at[size - 1] != '\0';
    return message->bad ? "" : at;
}

// Where an array of reals begins, and how many there are; behind it.
static Message reals(Message *message, uint32_t *count) {
    *count = whole(message);
    Message inner = *message;
    if (*count > 0)
        take(message, 8, (size_t)*count * 8);
    return inner;
}

// [s] of the header, or `fallback`.
static double header(Message *message, double fallback) {
    const double seconds = (int32_t)whole(message), part = 1e-9 * whole(message);
    string(message);
    return seconds > 0.0 || part > 0.0 ? seconds + part : fallback;
}

// ---- messages ----------------------------------------------------------------------------------

static mf_Status put(mf_Log *log, const char *front, const char *what, double time, double value,
                     mf_Error *error) {
    char name[MF_FIT_NAME];
    uint32_t column;
    snprintf(name, sizeof name, "%.60s%.30s", front, what);
    MF_TRY(mf_log_column(log, name, &column, error));
    return mf_log_sample(log, column, time, value, error);
}

static bool commands(const char *topic) {
    static const char *const words[] = {"command", "target", "desired", "reference"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(topic, words[i]) != NULL)
            return true;
    return false;
}

static uint32_t take_names(Message *message, const char *names[NAMES]) {
    const uint32_t count = whole(message);
    message->bad = message->bad || count > NAMES;
    for (uint32_t i = 0; i < count && !message->bad; i++)
        names[i] = string(message);
    return count;
}

static mf_Status take_joints(mf_Log *log, const char *topic, Message *message, double time,
                             mf_Error *error) {
    static const char *const what[] = {".position", ".velocity", ".effort"};
    const char *names[NAMES];
    time = header(message, time);
    const uint32_t joints = take_names(message, names);
    for (int part = 0; part < 3 && !message->bad; part++) {
        uint32_t count;
        Message values = reals(message, &count);
        if (message->bad || count != joints)
            continue;
        if (commands(topic) && part > 0)
            break;
        for (uint32_t i = 0; i < count; i++)
            MF_TRY(put(log, names[i], commands(topic) ? ".command" : what[part], time,
                       real(&values), error));
    }
    return MF_OK;
}

static mf_Status take_imu(mf_Log *log, const char *topic, Message *message, double time,
                          mf_Error *error) {
    static const char *const what[] = {".angular_velocity.x",    ".angular_velocity.y",
                                       ".angular_velocity.z",    ".linear_acceleration.x",
                                       ".linear_acceleration.y", ".linear_acceleration.z"};
    double values[37];
    time = header(message, time);
    for (int i = 0; i < 37; i++)
        values[i] = real(message);
    for (int i = 0; i < 6 && !message->bad; i++)
        MF_TRY(put(log, topic, what[i], time, values[i < 3 ? 13 + i : 25 + i - 3], error));
    return MF_OK;
}

static mf_Status take_trajectory(mf_Log *log, Message *message, double time, mf_Error *error) {
    const char *names[NAMES];
    time = header(message, time);
    const uint32_t joints = take_names(message, names), points = whole(message);
    for (uint32_t p = 0; p < points && !message->bad; p++) {
        uint32_t count, other;
        Message values = reals(message, &count);
        for (int i = 0; i < 3; i++)
            reals(message, &other);
        const double after = (int32_t)whole(message), part = 1e-9 * whole(message);
        for (uint32_t i = 0; i < count && count == joints && !message->bad; i++)
            MF_TRY(put(log, names[i], ".command", time + after + part, real(&values), error));
    }
    return MF_OK;
}

static mf_Status take_array(mf_Log *log, const char *topic, Message *message, double time,
                            mf_Error *error) {
    uint32_t count;
    for (uint32_t i = 0, dimensions = whole(message); i < dimensions && !message->bad; i++) {
        string(message);
        whole(message);
        whole(message);
    }
    whole(message); // offset of the data
    Message values = reals(message, &count);
    for (uint32_t i = 0; i < count && !message->bad; i++) {
        char index[16];
        snprintf(index, sizeof index, "[%u]", i);
        MF_TRY(put(log, topic, index, time, real(&values), error));
    }
    return MF_OK;
}

static mf_Status take_message(void *user, const char *topic, const char *type, mf_Time nanoseconds,
                              const uint8_t *data, size_t size, mf_Error *error) {
    mf_Log *log = user;
    const double time = mf_time_to_seconds(nanoseconds);
    const char *last = strrchr(type, '/');
    if (last == NULL || size < 4)
        return MF_OK;
    Message message = {.data = data + 4, .size = size - 4, .swapped = data[1] % 2 == 0};
    topic += *topic == '/';
    mf_Status status = MF_OK;
    if (strcmp(last, "/JointState") == 0)
        status = take_joints(log, topic, &message, time, error);
    else if (strcmp(last, "/Imu") == 0)
        status = take_imu(log, topic, &message, time, error);
    else if (strcmp(last, "/JointTrajectory") == 0)
        status = take_trajectory(log, &message, time, error);
    else if (strcmp(last, "/Float64MultiArray") == 0)
        status = take_array(log, topic, &message, time, error);
    if (status == MF_OK && message.bad)
        return mf_fail_at(error, MF_BAD_FILE, log->path, 0, 0,
                          "a message of %.80s ends too early: the bag is damaged", topic);
    return status;
}

// ---- files -------------------------------------------------------------------------------------

mf_Status mf_log_read_mcap(mf_Log *log, const char *data, size_t size, mf_Error *error) {
    mf_Error cause = {0};
    log->kind = "rosbag2";
    mf_Recording *recording = mf_recording_make(log->context, log->path, 0, error);
    if (recording == NULL)
        return MF_NO_MEMORY;
    mf_Status status = mf_recording_messages(recording, data, size, take_message, log, &cause);
    mf_recording_destroy(recording);
    if (status != MF_OK && error != NULL)
        *error = cause;
    if (status == MF_OK && log->memory->count == 0)
        return mf_log_read_recording(log, error);
    return status;
}

static mf_Status read_rows(mf_Log *log, mf_Database *database, mf_Error *error) {
    sqlite3_stmt *statement = NULL;
    bool row = true;
    mf_Status status =
        mf_database_prepare(database,
                            "SELECT t.name, t.type, m.timestamp, m.data FROM messages AS m JOIN "
                            "topics AS t ON t.id = m.topic_id ORDER BY m.timestamp, m.id",
                            &statement, error);
    while (status == MF_OK && row) {
        status = mf_database_step(database, statement, &row, error);
        const char *topic = row ? (const char *)sqlite3_column_text(statement, 0) : NULL;
        const char *type = row ? (const char *)sqlite3_column_text(statement, 1) : NULL;
        const void *data = row ? sqlite3_column_blob(statement, 3) : NULL;
        if (status == MF_OK && topic != NULL && type != NULL && data != NULL)
            status = take_message(log, topic, type, sqlite3_column_int64(statement, 2), data,
                                  (size_t)sqlite3_column_bytes(statement, 3), error);
    }
    sqlite3_finalize(statement);
    return status;
}

mf_Status mf_log_read_database(mf_Log *log, mf_Error *error) {
    mf_Database database;
    mf_Error cause = {0};
    log->kind = "rosbag2";
    mf_Status status = mf_database_open(log->context, log->path, false, &database, &cause);
    if (status == MF_OK) {
        status = read_rows(log, &database, &cause);
        mf_database_close(&database);
    }
    if (status == MF_CORRUPT || (status == MF_BAD_FILE && log->memory->count == 0))
        return mf_fail_at(error, MF_BAD_FILE, log->path, 0, 0,
                          "a SQLite file, but no bag of ROS 2 that can be read");
    if (status != MF_OK && error != NULL)
        *error = cause;
    return status;
}
