#!/usr/bin/env python3
"""Puts the table that robots.py, or another program, printed between its markers of a page.

usage: robots_page.py PAGE TABLE [PROGRAM]
"""
import sys


def main():
    page, table = sys.argv[1:3]
    program = sys.argv[3] if len(sys.argv) > 3 else "robots.py"
    begin, end = f"<!-- {program}: begin -->", f"<!-- {program}: end -->"
    with open(page, encoding="utf-8") as file:
        text = file.read()
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    with open(table, encoding="utf-8") as file:
        made = file.read().strip()
    with open(page, "w", encoding="utf-8") as file:
        file.write(f"{before}{begin}\n\n{made}\n\n{end}{after}")


if __name__ == "__main__":
    main()
