// The manual page, in the man macros of roff (groff_man(7)).
#include "options.h"

#include <mayfly/mayfly.h>
#include <stdio.h>
#include <string.h>

// `text` up to `length` bytes, with roff's special characters escaped.
static void put(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\')
            fputs("\\e", stdout);
        else if (text[i] == '-')
            fputs("\\-", stdout);
        else if (i == 0 && (text[i] == '.' || text[i] == '\''))
            printf("\\&%c", text[i]);
        else
            putchar(text[i]);
    }
}

static void put_line(const char *text) {
    put(text, strlen(text));
    putchar('\n');
}

// Paragraphs; lines that begin with blanks stay lines.
static void put_text(const char *text) {
    bool table = false;
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        const bool kept = text[0] == ' ';
        if (kept != table)
            puts(kept ? ".RS 2\n.nf" : ".fi\n.RE");
        table = kept;
        if (length == 0) {
            puts(".PP");
        } else {
            put(text, length);
            putchar('\n');
        }
        text += length + (text[length] == '\n');
    }
    if (table)
        puts(".fi\n.RE");
}

static void put_option(const mf_Option *option) {
    printf(".TP\n.B ");
    printf("\\-\\-");
    put(option->name, strlen(option->name));
    if (option->value != NULL) {
        fputs(" \\fI", stdout);
        put(option->value, strlen(option->value));
        fputs("\\fP", stdout);
    }
    putchar('\n');
    put_line(option->help);
}

static void put_command(const mf_CommandHelp *help) {
    printf(".SS mayfly %s", help->name);
    if (help->arguments[0] != '\0') {
        putchar(' ');
        put(help->arguments, strlen(help->arguments));
    }
    puts(" [options]");
    put_text(help->text);
    for (const mf_Option *option = help->options; option->name != NULL; option++)
        put_option(option);
    puts(".PP\nExamples:\n.PP");
    put_text(help->examples);
}

void mf_manual_print(const mf_CommandHelp *const *helps, mf_NameFn topics) {
    printf(".TH MAYFLY 1 \"\" \"mayfly %s\" \"User Commands\"\n", mf_version());
    puts(".SH NAME\nmayfly \\- a robot simulator for evolution, learning and planning\n"
         ".SH SYNOPSIS\n.B mayfly\n.I command\n[arguments] [options]\n.br\n.B mayfly help\n"
         "[\\fIcommand\\fP | \\fIkind of file\\fP]\n.SH COMMANDS");
    for (size_t i = 0; helps[i] != NULL; i++) {
        printf(".TP\n.B %s\n", helps[i]->name);
        put_line(helps[i]->summary);
    }
    puts(".PP\nAn option may be written \\fB\\-\\-name\\fP \\fIvalue\\fP or "
         "\\fB\\-\\-name\\fP=\\fIvalue\\fP. An option with two different values is "
         "rejected. After \\fB\\-\\-\\fP nothing is an option.");
    for (size_t i = 0; helps[i] != NULL; i++)
        put_command(helps[i]);
    puts(".SH FILES\nThe keys of files are listed by");
    const char *topic;
    for (uint32_t i = 0; (topic = topics(NULL, i)) != NULL; i++) {
        printf(".br\n.B mayfly help ");
        put_line(topic);
    }
    puts(".SH ENVIRONMENT\n.TP\n.B MAYFLY_ISA\n"
         "scalar, avx2 or avx512 forces an instruction set; results are the same.\n"
         ".SH EXIT STATUS\n.TP\n.B 0\nsuccess\n.TP\n.B 1\nfailure\n.TP\n.B 2\nwrong usage\n.TP\n.B "
         "75\n"
         "stopped early and resumable");
}
