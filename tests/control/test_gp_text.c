// Assembler and disassembler of the machine-code controller.
#include "rig/rig.h"

TEST(every_byte_is_a_fixpoint) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint8_t program[MF_GP_BYTES], again[MF_GP_BYTES];
        for (uint32_t i = 0; i < MF_GP_BYTES; i++)
            program[i] = (uint8_t)(byte + 37 * i);
        char text[1024];
        size_t length = mf_gp_disassemble(program, text, sizeof text);
        assert_int_equal(length, strlen(text));
        MUST(mf_gp_assemble(text, again, &error));
        assert_memory_equal(program, again, sizeof program);
    }
}

TEST(text_is_as_documented) {
    uint8_t program[MF_GP_BYTES] = {0x05, 0x3f, 0x40, 0x61, 0x8c, 0xa0, 0xa7, 0xc0, 0xe0};
    const char *expected = "00  left 5\n01  right 31\n02  sensor 0\n03  load 1\n04  jump 12\n"
                           "05  not\n06  not 7\n07  inc\n08  dec\n09  left 0\n";
    char text[1024];
    mf_gp_disassemble(program, text, sizeof text);
    assert_memory_equal(text, expected, strlen(expected));
}

TEST(short_buffers_are_terminated) {
    uint8_t program[MF_GP_BYTES] = {0};
    char whole[1024], part[1024];
    size_t length = mf_gp_disassemble(program, whole, sizeof whole);
    assert_int_equal(mf_gp_disassemble(program, NULL, 0), length);
    for (size_t size = 1; size <= length + 1; size++) {
        memset(part, 'x', sizeof part);
        assert_int_equal(mf_gp_disassemble(program, part, size), length);
        assert_int_equal(strlen(part), size - 1);
        assert_memory_equal(part, whole, size - 1);
        assert_int_equal(part[size], 'x');
    }
}

TEST(sources_may_be_written_by_hand) {
    const char *source = "; a walker\r\n"
                         "\tleft 3   # first leg\n"
                         "\n"
                         "10 right 4\n"
                         "   dec;done\n"
                         "02 inc 9";
    uint8_t program[MF_GP_BYTES];
    MUST(mf_gp_assemble(source, program, &error));
    for (uint32_t i = 0; i < MF_GP_BYTES; i++) {
        uint8_t expected = i == 0 ? 0x03 : i == 10 ? 0x24 : i == 11 ? 0xe0 : i == 2 ? 0xc9 : 0xa0;
        assert_int_equal(program[i], expected);
    }
    MUST(mf_gp_assemble("", program, &error));
    assert_int_equal(program[0], 0xa0);
}

TEST(mistakes_name_their_line) {
    static const struct {
        const char *text, *message;
        int line, column;
    } cases[] = {
        {"left 3\nfly 2\n", "left, right", 2, 1},
        {"left", "end of the line", 1, 5},
        {"\n\n  jump 32", "\"32\"", 3, 8},
        {"load -1", "\"-1\"", 1, 6},
        {"load 1 2", "nothing after", 1, 8},
        {"not x", "operand", 1, 5},
        {"32 inc", "address 0 .. 31", 1, 1},
        {"1x inc", "address 0 .. 31", 1, 1},
        {"00 inc\n00 dec", "no instruction yet", 2, 1},
        {"31 inc\ndec", "at most 32", 2, 1},
        {"LEFT 1", "left, right", 1, 1},
        {"7", "end of the line", 1, 2},
        {"99999999999999999999 inc", "address 0 .. 31", 1, 1},
        {"\x01\x02\xff", "left, right", 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t program[MF_GP_BYTES], before[MF_GP_BYTES];
        mf_Error error = {0};
        memset(program, 0x5a, sizeof program);
        memcpy(before, program, sizeof program);
        assert_fails(mf_gp_assemble(cases[i].text, program, &error), MF_BAD_FILE, &error,
                     cases[i].message);
        assert_int_equal(error.line, cases[i].line);
        assert_int_equal(error.column, cases[i].column);
        assert_memory_equal(program, before, sizeof program);
    }
}
