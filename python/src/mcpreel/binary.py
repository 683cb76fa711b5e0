"""Find the program mcpreel that belongs to this package."""

from __future__ import annotations

import functools
import os
import platform
import shutil
import sysconfig
from pathlib import Path


class MissingProgramError(RuntimeError):
    """The program mcpreel is not installed beside this package."""


def _candidates() -> list[Path]:
    folders = [sysconfig.get_path("scripts")]
    folders.append(sysconfig.get_path("scripts", scheme=f"{os.name}_user"))
    # 'pip install --target FOLDER' puts scripts into FOLDER/bin.
    folders.append(str(Path(__file__).resolve().parent.parent / "bin"))
    return [Path(folder) / "mcpreel" for folder in folders if folder]


@functools.cache
def _installed() -> str:
    tried = _candidates()
    for path in tried:
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    found = shutil.which("mcpreel")
    if found:
        return found
    places = ", ".join(str(path) for path in tried)
    raise MissingProgramError(
        f"the program mcpreel is not installed for {platform.system()} {platform.machine()}: not at {places}, "
        "nor in PATH. Wheels with the program exist for Linux on x86_64 and aarch64; elsewhere, build mcpreel "
        "from source and set MCPREEL to its path"
    )


def find_program() -> str:
    """Return the path of mcpreel: the variable MCPREEL, else the program of this package, else the one in PATH."""
    chosen = os.environ.get("MCPREEL")
    if not chosen:
        return _installed()
    if not (os.path.isfile(chosen) and os.access(chosen, os.X_OK)):
        raise MissingProgramError(
            f"the variable MCPREEL is {chosen!r}, which is no program: unset it, or set it to the path of mcpreel"
        )
    return chosen
