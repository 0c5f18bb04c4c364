"""Writes a C program that calls every function of the public headers with NULL and zeros.

Each call is made in a process of its own. The rule (docs/explanation/concepts.md): no call crashes; a function
that returns mf_Status fails, one that returns a pointer gives NULL, all others a value, or nothing.

usage: null_calls.py SOURCE_FOLDER > calls.c
"""

import pathlib
import re
import sys

# Numbers are outside of what NULL says; these take no pointer that must be there.
MAY_SUCCEED = {"mf_context_create", "mf_neurons_check"}
FUNCTION = re.compile(
    r"MF_API\s+([^;{]*?)\b(mf_\w+)\s*\(((?:[^()]|\([^()]*\))*)\)\s*(?:MF_PRINTF\([^)]*\))?\s*;"
)


def functions(root):
    """(return type, name, arguments) of all functions of the headers."""
    for header in sorted((root / "include" / "mayfly").glob("*.h")):
        text = re.sub(r"//[^\n]*", "", header.read_text())
        found = [[" ".join(part.split()) for part in row] for row in FUNCTION.findall(text)]
        declared = len(re.findall(r"^MF_API ", text, re.M))
        if len(found) != declared:
            sys.exit(f"{header}: {declared} functions are declared, {len(found)} understood")
        yield from found


def split(arguments):
    """Arguments at commas outside of parentheses."""
    parts, depth = [""], 0
    for letter in arguments:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip() not in ("", "void", "...")]


def declaration(argument):
    """The argument as a variable: arrays become pointers."""
    if "(*" in argument:
        return argument, re.search(r"\(\*\s*(\w+)", argument)[1]
    array = re.match(r"(.*?)(\w+)\[[^\]]*\]((?:\[[^\]]*\])*)$", argument)
    if array:
        kind, name, rest = array.groups()
        return (f"{kind}(*{name}){rest}" if rest else f"{kind}*{name}"), name
    return argument, re.search(r"(\w+)$", argument)[1]


def call(result, name, arguments):
    variables = [declaration(argument) for argument in split(arguments)]
    body = "".join(f"    {text} = {{0}};\n" for text, _ in variables)
    use = f"{name}({', '.join(variable for _, variable in variables)})"
    if result == "void":
        end = f"    {use};\n    return 0;\n"
    elif result == "mf_Status" and name not in MAY_SUCCEED:
        end = f"    return {use} == MF_OK;\n"
    elif result.endswith("*"):
        end = f"    return {use} != NULL && {int('*' in arguments)};\n"
    else:
        end = f"    {result} given_back = {use};\n    (void)given_back;\n    return 0;\n"
    return f"static int call_{name}(void) {{\n{body}{end}}}\n"


MAIN = """
int main(void) {
    int wrong = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        fflush(stdout);
        pid_t child = fork();
        int state = 0;
        if (child == 0) {
            alarm(60);
            _exit(calls[i].call());
        }
        waitpid(child, &state, 0);
        if (state == 0)
            continue;
        wrong++;
        printf("%s: %s\\n", calls[i].name,
               WIFSIGNALED(state) ? "crashes" : "takes NULL as if it were something");
    }
    printf("%zu functions called with NULL, %d wrong\\n", sizeof calls / sizeof *calls, wrong);
    return wrong != 0;
}
"""


def main():
    rows = [row for row in functions(pathlib.Path(sys.argv[1]))]
    # mf_fail and its like want a format; text that is missing is a mistake the compiler reports.
    rows = [row for row in rows if "..." not in row[2]]
    print("#include <mayfly/mayfly.h>\n#include <stdio.h>\n#include <sys/wait.h>\n#include <unistd.h>")
    headers = sorted(path.name for path in (pathlib.Path(sys.argv[1]) / "include/mayfly").glob("*.h"))
    print("".join(f"#include <mayfly/{name}>\n" for name in headers))
    print("\n".join(call(*row) for row in rows))
    print("static const struct {\n    const char *name;\n    int (*call)(void);\n} calls[] = {")
    print("".join(f'    {{"{name}", call_{name}}},\n' for _, name, _ in rows) + "};")
    print(MAIN)


if __name__ == "__main__":
    main()
