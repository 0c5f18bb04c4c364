// Completion scripts: static text, so that a shell starts no process during typing. The row of an
// option or argument defines its completions: words, files with an ending, folders, files, or none.
#include "options.h"

#include <stdio.h>
#include <string.h>

// Kinds of option values for completion.
typedef enum Value { VALUE_NONE, VALUE_FREE, VALUE_NAMES, VALUE_FILE, VALUE_FOLDER } Value;

static Value value_of(const mf_Option *option) {
    if (option->kind == MF_OPTION_FLAG)
        return VALUE_NONE;
    if (option->names != NULL)
        return VALUE_NAMES;
    if (option->kind == MF_OPTION_OUTPUT || strcmp(option->value, "FILE") == 0)
        return VALUE_FILE;
    return strcmp(option->value, "FOLDER") == 0 ? VALUE_FOLDER : VALUE_FREE;
}

static void print_names(mf_NameFn names) {
    const char *name;
    for (uint32_t i = 0; names != NULL && (name = names(NULL, i)) != NULL; i++)
        printf("%s%s", i > 0 ? " " : "", name);
}

// ---- bash --------------------------------------------------------------------------------------

// One branch "run,--motion) ..." for the options of a kind of value.
static void bash_values(const mf_CommandHelp *help) {
    for (const mf_Option *option = help->options; option->name != NULL; option++) {
        const Value value = value_of(option);
        if (value == VALUE_NONE)
            continue;
        printf("    %s,--%s) ", help->name, option->name);
        if (value == VALUE_NAMES) {
            printf("words='");
            print_names(option->names);
            printf("'");
        } else {
            printf("kind=%s", value == VALUE_FILE     ? "file"
                              : value == VALUE_FOLDER ? "folder"
                                                      : "free");
        }
        puts(" ;;");
    }
}

static void bash_options(const mf_CommandHelp *help) {
    printf("    %s) options='--help", help->name);
    for (const mf_Option *option = help->options; option->name != NULL; option++)
        printf(" --%s", option->name);
    printf("'");
    if (help->names != NULL) {
        printf(" arguments='");
        print_names(help->names);
        printf("'");
    }
    puts(" ;;");
}

void mf_completion_bash(const mf_CommandHelp *const *helps, mf_NameFn topics) {
    puts("# bash completion for mayfly; printed by: mayfly completion bash\n"
         "_mayfly() {\n"
         "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "    local command=${COMP_WORDS[1]} words='' kind='' options='' arguments=''\n"
         "    COMPREPLY=()\n"
         "    # --name=value comes as three words\n"
         "    if [[ $current == '=' ]]; then\n"
         "        current=''\n"
         "    elif [[ $before == '=' && $COMP_CWORD -gt 2 ]]; then\n"
         "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "    fi\n"
         "    if [[ $COMP_CWORD -eq 1 ]]; then");
    printf("        COMPREPLY=($(compgen -W '--help --version --licenses help");
    for (size_t i = 0; helps[i] != NULL; i++)
        printf(" %s", helps[i]->name);
    puts("' -- \"$current\"))\n"
         "        return\n"
         "    fi\n"
         "    case $command,$before in");
    for (size_t i = 0; helps[i] != NULL; i++)
        bash_values(helps[i]);
    puts("    esac\n"
         "    case $command in");
    for (size_t i = 0; helps[i] != NULL; i++)
        bash_options(helps[i]);
    printf("    help) arguments='");
    print_names(topics);
    puts("' ;;\n"
         "    esac\n"
         "    if [[ -n $words ]]; then\n"
         "        COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "    elif [[ $kind == folder ]]; then\n"
         "        compopt -o filenames 2>/dev/null\n"
         "        mapfile -t COMPREPLY < <(compgen -d -- \"$current\")\n"
         "    elif [[ $kind == free ]]; then\n"
         "        return\n"
         "    elif [[ -z $kind && $current == -* ]]; then\n"
         "        COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
         "    elif [[ -z $kind && -n $arguments ]]; then\n"
         "        COMPREPLY=($(compgen -W \"$arguments\" -- \"$current\"))\n"
         "    else\n"
         "        compopt -o filenames 2>/dev/null\n"
         "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
         "    fi\n"
         "}\n"
         "complete -F _mayfly mayfly");
}

// ---- zsh ---------------------------------------------------------------------------------------

// `text` within single quotes and within the brackets of a specification of _arguments.
static void zsh_quoted(const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (*text == '[' || *text == ']' || *text == ':' || *text == '\\')
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void zsh_option(const mf_Option *option) {
    const Value value = value_of(option);
    printf("            '%s--%s%s[", option->kind == MF_OPTION_LIST ? "*" : "", option->name,
           value == VALUE_NONE ? "" : "=");
    zsh_quoted(option->help);
    printf("]");
    if (value != VALUE_NONE) {
        putchar(':');
        zsh_quoted(option->value);
        putchar(':');
    }
    if (value == VALUE_NAMES) {
        printf("(");
        print_names(option->names);
        printf(")");
    } else if (value == VALUE_FILE) {
        printf("_files");
    } else if (value == VALUE_FOLDER) {
        printf("_files -/");
    }
    puts("' \\");
}

static void zsh_command(const mf_CommandHelp *help) {
    printf("    %s)\n        _arguments '--help[this text]' \\\n", help->name);
    for (const mf_Option *option = help->options; option->name != NULL; option++)
        zsh_option(option);
    printf("            '*:%s:", help->names != NULL ? "name" : "file");
    if (help->names != NULL) {
        printf("(");
        print_names(help->names);
        puts(")' ;;");
    } else {
        puts("_files' ;;");
    }
}

void mf_completion_zsh(const mf_CommandHelp *const *helps, mf_NameFn topics) {
    puts("#compdef mayfly\n"
         "# zsh completion for mayfly; printed by: mayfly completion zsh\n"
         "_mayfly() {\n"
         "    local -a commands\n"
         "    commands=(");
    for (size_t i = 0; helps[i] != NULL; i++) {
        printf("        '%s:", helps[i]->name);
        zsh_quoted(helps[i]->summary);
        puts("'");
    }
    puts("        'help:an overview, one command, or the keys of a kind of file')\n"
         "    if (( CURRENT == 2 )); then\n"
         "        _describe command commands\n"
         "        return\n"
         "    fi\n"
         "    local command=$words[2]\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    case $command in");
    for (size_t i = 0; helps[i] != NULL; i++)
        zsh_command(helps[i]);
    printf("    help)\n        _arguments '1:name:(");
    print_names(topics);
    puts(")' ;;\n"
         "    esac\n"
         "}\n"
         "if [[ $funcstack[1] == _mayfly ]]; then\n"
         "    _mayfly \"$@\"\n"
         "else\n"
         "    compdef _mayfly mayfly\n"
         "fi");
}
