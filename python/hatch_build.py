"""Put the mcpreel program into the wheel, and name the platform that it is for.

MCPREEL_PROGRAM: the file of the program. MCPREEL_WHEEL_PLATFORM: the tag, such as
manylinux_2_17_x86_64.musllinux_1_1_x86_64. MCPREEL_LICENSES: the licences of all that the program
holds; if it is not set, that of mcpreel.
"""

import os
import pathlib
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg,misc]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        program = os.environ.get("MCPREEL_PROGRAM", "")
        platform = os.environ.get("MCPREEL_WHEEL_PLATFORM", "")
        if not program or not platform or not pathlib.Path(program).is_file():
            raise SystemExit(
                "mcpreel: a wheel holds the program mcpreel, which is built first: run 'make dist' in the repository, "
                "or set MCPREEL_PROGRAM to its file and MCPREEL_WHEEL_PLATFORM to the platform tag of the wheel"
            )
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["shared_scripts"] = {program: "mcpreel"}
        licenses = os.environ.get("MCPREEL_LICENSES") or str(pathlib.Path(self.root).parent / "LICENSE")
        build_data["force_include"] = {licenses: "mcpreel/LICENSES.txt"}
