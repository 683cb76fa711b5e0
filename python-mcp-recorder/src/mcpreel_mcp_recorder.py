"""The command mcp-recorder: mcpreel understands its command line."""

import importlib.metadata
import os
import sys

from mcpreel import MissingProgramError, find_program


def main() -> int:
    try:
        real = importlib.metadata.version("mcp-recorder")
    except importlib.metadata.PackageNotFoundError:
        return run_mcpreel()
    print(f"mcpreel-mcp-recorder: mcp-recorder {real} is installed and runs; uninstall one of the two", file=sys.stderr)
    from mcp_recorder.cli import main as real_main

    return int(real_main() or 0)


def run_mcpreel() -> int:
    try:
        program = find_program()
    except MissingProgramError as error:
        print(f"mcp-recorder: {error}", file=sys.stderr)
        return 2
    os.execv(program, [program, *sys.argv[1:]])
