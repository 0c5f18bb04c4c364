// Text form of the machine-code controller's programs.
//
// One instruction a line: an optional address, a mnemonic, its operand. The operand of not, inc and
// dec has no effect but is part of the byte, so it is preserved; it may be omitted if it is 0.
// Invariant: assembling what mf_gp_disassemble wrote gives the same 32 bytes.
#include <mayfly/control.h>
#include "base/floats.h"

#include <stdio.h>
#include <string.h>

static const char *const mnemonics[8] = {"left", "right", "sensor", "load",
                                         "jump", "not",   "inc",    "dec"};

static bool needs_operand(uint32_t opcode) {
    return opcode <= MF_GP_JUMP;
}

size_t mf_gp_disassemble(const uint8_t program[MF_GP_BYTES], char *text, size_t size) {
    if (program == NULL)
        return 0;
    size_t length = 0;
    if (size > 0)
        text[0] = '\0';
    for (uint32_t address = 0; address < MF_GP_BYTES; address++) {
        uint32_t opcode = program[address] >> 5, operand = program[address] & 31u;
        char line[32];
        int written =
            needs_operand(opcode) || operand != 0
                ? snprintf(line, sizeof line, "%02u  %s %u\n", address, mnemonics[opcode], operand)
                : snprintf(line, sizeof line, "%02u  %s\n", address, mnemonics[opcode]);
        for (int i = 0; i < written; i++, length++) {
            if (length + 1 < size) {
                text[length] = line[i];
                text[length + 1] = '\0';
            }
        }
    }
    return length;
}

// ---- assembler ---------------------------------------------------------------------------------

typedef struct Token {
    const char *start;
    size_t length; // 0 at the end of the line
} Token;

// Position of the assembler, and for messages the line and its start.
typedef struct Reader {
    const char *at, *line_start;
    int32_t line;
    mf_Error *error;
} Reader;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

// The next token of this line; comments end it.
static Token next_token(Reader *reader) {
    while (is_blank(*reader->at))
        reader->at++;
    const char *start = reader->at;
    const char *end = start;
    while (*end != '\0' && *end != '\n' && *end != ';' && *end != '#' && !is_blank(*end))
        end++;
    reader->at = end;
    return (Token){start, (size_t)(end - start)};
}

static mf_Status fail_token(const Reader *reader, Token token, const char *expected) {
    int32_t column = (int32_t)(token.start - reader->line_start) + 1;
    if (token.length == 0)
        return mf_fail_at(reader->error, MF_BAD_FILE, NULL, reader->line, column,
                          "need %s, found the end of the line", expected);
    int shown = token.length < 40 ? (int)token.length : 40;
    return mf_fail_at(reader->error, MF_BAD_FILE, NULL, reader->line, column,
                      "need %s, found \"%.*s\"", expected, shown, token.start);
}

// A number 0 .. 31 in decimal; false for anything else.
static bool read_number(Token token, uint32_t *out) {
    uint32_t number = 0;
    if (token.length == 0)
        return false;
    for (size_t i = 0; i < token.length; i++) {
        if (token.start[i] < '0' || token.start[i] > '9')
            return false;
        number = number * 10 + (uint32_t)(token.start[i] - '0');
        if (number > 31)
            return false;
    }
    *out = number;
    return true;
}

static bool find_opcode(Token token, uint32_t *out) {
    for (uint32_t opcode = 0; opcode < 8; opcode++) {
        if (strlen(mnemonics[opcode]) == token.length &&
            memcmp(mnemonics[opcode], token.start, token.length) == 0) {
            *out = opcode;
            return true;
        }
    }
    return false;
}

// Assembles one line with an instruction that begins with `token` into `memory` at *address or the
// line's address; *address becomes the next one.
static mf_Status read_instruction(Reader *reader, Token token, uint8_t memory[MF_GP_BYTES],
                                  bool filled[MF_GP_BYTES], uint32_t *address) {
    Token location = token;
    if (token.start[0] >= '0' && token.start[0] <= '9') {
        if (!read_number(token, address))
            return fail_token(reader, token, "an address 0 .. 31");
        token = next_token(reader);
    }
    uint32_t opcode, operand = 0;
    if (!find_opcode(token, &opcode))
        return fail_token(reader, token, "left, right, sensor, load, jump, not, inc or dec");
    if (*address >= MF_GP_BYTES)
        return fail_token(reader, location, "at most 32 instructions up to address 31");
    if (filled[*address])
        return fail_token(reader, location, "an address that has no instruction yet");
    token = next_token(reader);
    if (token.length > 0 || needs_operand(opcode)) {
        if (!read_number(token, &operand))
            return fail_token(reader, token, "an operand 0 .. 31");
        token = next_token(reader);
    }
    if (token.length > 0)
        return fail_token(reader, token, "nothing after the operand");
    filled[*address] = true;
    memory[(*address)++] = (uint8_t)(opcode << 5 | operand);
    return MF_OK;
}

mf_Status mf_gp_assemble(const char *text, uint8_t program[MF_GP_BYTES], mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(text != NULL, error, "mf_gp_assemble: text is NULL");
    uint8_t memory[MF_GP_BYTES];
    bool filled[MF_GP_BYTES] = {false};
    memset(memory, MF_GP_NOT << 5, sizeof memory);
    Reader reader = {text, text, 1, error};
    uint32_t address = 0;
    while (*reader.at != '\0') {
        Token token = next_token(&reader);
        if (token.length > 0) {
            MF_TRY(read_instruction(&reader, token, memory, filled, &address));
        }
        while (*reader.at != '\0' && *reader.at != '\n')
            reader.at++;
        if (*reader.at == '\n') {
            reader.line_start = ++reader.at;
            reader.line++;
        }
    }
    memcpy(program, memory, sizeof memory);
    return MF_OK;
}
