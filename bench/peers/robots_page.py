#!/usr/bin/env python3
"""Puts the table that robots.py printed between the markers of a page.

usage: robots_page.py PAGE TABLE
"""
import sys

BEGIN, END = "<!-- robots.py: begin -->", "<!-- robots.py: end -->"


def main():
    page, table = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        text = file.read()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    with open(table, encoding="utf-8") as file:
        made = file.read().strip()
    with open(page, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n\n{made}\n\n{END}{after}")


if __name__ == "__main__":
    main()
