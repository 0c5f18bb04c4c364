"""Public headers as Markdown: one page per header, each declaration with its comment as written.

A header is cut at blank lines outside of braces and at comments that start in the first column. The
comment above a declaration becomes its text, `// ---- title ---` becomes a heading.
"""

import pathlib
import re

GUARD = re.compile(r"#(ifndef|define) MAYFLY_\w+_H$|#include |#endif")
TITLE = re.compile(r"// -{3,} (.*?) -+$")
NAMES = (
    re.compile(r"^#define (\w+)", re.M),
    re.compile(r"^(?:MF_API|static inline|typedef)[^;{]*?\b(mf_\w+)\(", re.M),
    re.compile(r"^typedef [^;{]*\(\*(mf_\w+)\)", re.M),
    re.compile(r"^\} (\w+);", re.M),
    re.compile(r"^typedef [^;{(]*?\b(mf_\w+);", re.M),
)


def chunks(text):
    """Yields (comment lines, code lines) in the order of the file."""
    comment, code, depth = [], [], 0
    for line in text.split("\n") + [""]:
        starts = depth == 0 and (not line.strip() or line.startswith("//"))
        if starts and code or (not line.strip() and comment and depth == 0):
            yield comment, code
            comment, code = [], []
        if depth == 0 and line.startswith("//"):
            comment.append(line)
        elif line.strip() and (depth or not GUARD.match(line)) and line != "}":
            code.append(line)
            depth += line.count("{") - line.count("}")


def escape(text):
    """Comment text as Markdown: what is not between backticks has no special meaning."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([\\*_<>\[\]#|])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def prose(comment):
    return escape("\n".join(re.sub(r"^// ?", "", line) for line in comment))


def names_of(code):
    text = "\n".join(code)
    found = sorted((match.start(), match[1]) for rule in NAMES for match in rule.finditer(text))
    names = [name for _, name in found]
    if not names and code[0].startswith("enum"):
        names = re.findall(r"^\s+(MF_\w+)", text, re.M)[:1]
    return list(dict.fromkeys(names))


def heading(names):
    shown = ", ".join(f"`{name}`" for name in names[:3])
    return shown + (", ..." if len(names) > 3 else "")


def page(path: pathlib.Path) -> str:
    out = [f"# {path.name}", "", f"`#include <mayfly/{path.name}>`", ""]
    for comment, code in chunks(path.read_text()):
        titles = [TITLE.match(line) for line in comment]
        if any(titles):
            title = next(match[1] for match in titles if match)
            out += [f"## {escape(title[0].upper() + title[1:])}", ""]
            comment = [line for line, match in zip(comment, titles) if not match]
        if code:
            names = names_of(code)
            if names:
                out += [f"### {heading(names)} {{: #{names[0]} }}", ""]
        if comment:
            out += [prose(comment), ""]
        if code:
            out += ["```c", *code, "```", ""]
    return "\n".join(out)


def summary(path: pathlib.Path) -> str:
    """The first paragraph of the header's comment, without the project's name."""
    comment, _ = next(chunks(path.read_text()))
    return re.sub(r"^Mayfly: ", "", prose(comment).replace("\n", " "))


def index(paths) -> str:
    rows = [f"| [{path.name}]({path.stem}.md) | {summary(path)} |" for path in paths]
    return "\n".join(["| header | |", "|---|---|", *rows, ""])
