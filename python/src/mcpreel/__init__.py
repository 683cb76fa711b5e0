"""Record, replay and verify MCP traffic with the program mcpreel.

The functions here start the program and read its reports. They contain no matching, comparing or
redacting of their own.
"""

from mcpreel.binary import MissingProgramError, find_program
from mcpreel.client import McpClient, McpError
from mcpreel.process import McpreelError
from mcpreel.record import RecordSession
from mcpreel.replay import ReplayServer
from mcpreel.verify import InteractionResult, VerifyResult, verify

__all__ = [
    "InteractionResult",
    "McpClient",
    "McpError",
    "McpreelError",
    "MissingProgramError",
    "RecordSession",
    "ReplayServer",
    "VerifyResult",
    "find_program",
    "verify",
]
