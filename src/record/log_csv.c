// Logs as text: a line of names, then lines of numbers, with commas, semicolons or tabs between
// them. Lines that begin with # and empty ones are no samples; nor is an empty cell.
#include "record/log.h"

#include "base/memory.h"
#include "io/decimal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct Table {
    mf_Log *log;
    char separator;
    int32_t line;         // [1] of the file
    uint32_t cells, time; // [1] in a line; the cell of times
    char **row;           // the cells of a line
    uint32_t *columns;    // [1] of each cell
    double factor, last;  // [1], [s]
    bool begun;
    mf_Error *error;
} Table;

MF_PRINTF(2, 3)
static mf_Status refuse(const Table *table, const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return mf_fail_at(table->error, MF_BAD_FILE, table->log->path, table->line, 0, "%s", text);
}

// The next cell, without blanks and quotes around it; NULL after the last. *rest moves behind it.
static char *take_cell(char **rest, char separator) {
    if (*rest == NULL)
        return NULL;
    char *cell = *rest, *end = strchr(cell, separator);
    *rest = end != NULL ? end + 1 : NULL;
    end = end != NULL ? end : cell + strlen(cell);
    while (*cell == ' ' || *cell == '"')
        cell++;
    while (end > cell && (end[-1] == ' ' || end[-1] == '"' || end[-1] == '\r'))
        end--;
    *end = '\0';
    return cell;
}

// The next line that is no comment, terminated by 0; NULL at the end.
static char *take_line(Table *table, char **rest) {
    while (*rest != NULL && **rest != '\0') {
        char *line = *rest, *end = strchr(line, '\n');
        if (end != NULL)
            *end = '\0';
        *rest = end != NULL ? end + 1 : NULL;
        table->line++;
        if (line[strspn(line, " \t\r,;")] != '\0' && line[strspn(line, " \t")] != '#')
            return line;
    }
    return NULL;
}

static mf_Status read_names(Table *table, const char *time, char *line) {
    table->separator = strchr(line, '\t') != NULL ? '\t' : strchr(line, ';') != NULL ? ';' : ',';
    table->time = MF_LOG_COLUMNS;
    for (char *rest = line, *name; (name = take_cell(&rest, table->separator)) != NULL;
         table->cells++) {
        if (table->cells == MF_LOG_COLUMNS)
            return refuse(table, "expected at most %d columns", MF_LOG_COLUMNS);
        if (strcmp(name, time) == 0) {
            table->time = table->cells;
            continue;
        }
        const uint32_t before = table->log->memory->count;
        if (name[0] == '\0')
            return refuse(table, "column %u has no name", table->cells + 1);
        MF_TRY(mf_log_column(table->log, name, &table->columns[table->cells], table->error));
        if (table->log->memory->count == before)
            return refuse(table, "two columns are called %.80s", name);
    }
    if (table->time < MF_LOG_COLUMNS)
        return MF_OK;
    return refuse(table,
                  "expected a line of names with a column '%.80s'; --map NAME=time if the times "
                  "[s] are in another one",
                  time);
}

static mf_Status read_row(Table *table, char *line) {
    double time = 0.0, value;
    char **cells = table->row;
    uint32_t count = 0;
    for (char *rest = line, *cell; (cell = take_cell(&rest, table->separator)) != NULL; count++)
        if (count < table->cells)
            cells[count] = cell;
    if (count != table->cells)
        return refuse(table, "expected %u cells as in the line of names, found %u", table->cells,
                      count);
    if (!mf_decimal_parse(cells[table->time], &time) || !(time < 1e300 && time > -1e300))
        return refuse(table, "expected a time, found '%.40s'", cells[table->time]);
    time *= table->factor;
    if (table->begun && !(time > table->last))
        return refuse(table, "times must rise: %.9g s is not after %.9g s", time, table->last);
    table->begun = true;
    table->last = time;
    for (uint32_t i = 0; i < count; i++) {
        if (i == table->time || cells[i][0] == '\0')
            continue;
        const char *name = table->log->memory->series[table->columns[i]].name;
        if (!mf_decimal_parse(cells[i], &value) || !(value < 1e300 && value > -1e300))
            return refuse(table, "expected a number for %.80s, found '%.40s'", name, cells[i]);
        MF_TRY(mf_log_sample(table->log, table->columns[i], time, value, table->error));
    }
    return MF_OK;
}

mf_Status mf_log_read_csv(mf_Log *log, const char *time, double factor, char *data,
                          mf_Error *error) {
    static const char mark[] = "\xef\xbb\xbf";
    Table table = {.log = log, .factor = factor, .error = error};
    char *rest = strncmp(data, mark, 3) == 0 ? data + 3 : data, *line = take_line(&table, &rest);
    if (line == NULL)
        return mf_fail_at(error, MF_BAD_FILE, log->path, 0, 0, "the log is empty");
    const mf_Array arrays[] = {MF_ARRAY(table.row, MF_LOG_COLUMNS),
                               MF_ARRAY(table.columns, MF_LOG_COLUMNS)};
    MF_NEED_MEMORY(mf_allocate_arrays(log->context, arrays, 2), error, "log");
    log->names = table.line;
    mf_Status status = read_names(&table, time, line);
    while (status == MF_OK && (line = take_line(&table, &rest)) != NULL)
        status = read_row(&table, line);
    log->last = table.line;
    mf_release(log->context, table.row);
    return status;
}
