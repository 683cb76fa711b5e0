"""The names of mcp-recorder, provided by mcpreel.

A module file, not a package: if mcp-recorder is installed beside it, Python imports the package of
mcp-recorder.
"""

import importlib.metadata

from mcpreel import McpClient, RecordSession

__all__ = ["McpClient", "RecordSession"]


def __getattr__(name: str) -> str:
    """The version is that of the wheel which has this module; it is read when it is asked for."""
    if name == "__version__":
        return importlib.metadata.version("mcpreel-mcp-recorder")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
