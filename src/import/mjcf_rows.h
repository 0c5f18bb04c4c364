// Rows of tables of attributes, for the files that have such tables: each defines T, the structure
// that its table is of.
#pragma once

#include "import/mjcf.h"

#define MF_MJCF_ROW(name, kind, least, most, member, names)                                        \
    { name, MF_MJCF_##kind, least, most, offsetof(T, member), names }
#define NUMBERS(name, least, most, member) MF_MJCF_ROW(name, NUMBERS, least, most, member, NULL)
#define NUMBER(name, member) NUMBERS(name, 1, 1, member)
#define INTEGER(name, member) MF_MJCF_ROW(name, INTEGER, 0, 0, member, NULL)
#define FLAG(name, member) MF_MJCF_ROW(name, FLAG, 0, 0, member, NULL)
#define TEXT(name, member) MF_MJCF_ROW(name, TEXT, 0, 0, member, NULL)
#define CHOICE(name, member, names) MF_MJCF_ROW(name, CHOICE, 0, 0, member, names)
#define ORIENTATION(member)                                                                        \
    MF_MJCF_ROW("quat axisangle xyaxes zaxis euler", ORIENTATION, 0, 0, member, NULL)
// Attributes that are directly members of the model are stored in `plain`.
#define PLAIN(item) MF_MJCF_ROW("", PLAIN, MF_ITEM_##item, 0, plain, NULL)
#define WITHOUT_MEMBER(names, kind)                                                                \
    { names, MF_MJCF_##kind, 0, 0, 0, NULL }
#define ELSEWHERE(names) WITHOUT_MEMBER(names, ELSEWHERE)
#define PASSED(names) WITHOUT_MEMBER(names, PASSED)
#define NOTED(names) WITHOUT_MEMBER(names, NOTED)
#define REFUSED(names) WITHOUT_MEMBER(names, REFUSED)
#define END WITHOUT_MEMBER(NULL, PASSED)
