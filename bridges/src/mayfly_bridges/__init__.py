"""Bridges between a world of `mayfly serve` and other people's software.

Each bridge is a module with `NAME`, `SUMMARY`, `add_options(parser)` and `run(world, options)`;
`mayfly-bridge NAME ADDRESS` runs it, and the key `bridges` of a scene lets `mayfly serve` do so.
"""
