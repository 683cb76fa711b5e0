"""The names of mcp-recorder, provided by mcpreel.

A module file, not a package: if mcp-recorder is installed beside it, Python imports the package of
mcp-recorder.
"""

from mcpreel import McpClient, RecordSession

__all__ = ["McpClient", "RecordSession"]
