"""Runs untrusted Python: a confined process with limits; see docs/sandbox.md."""

from planweave.tools.sandbox.outside import (
    SandboxLimits,
    SandboxResult,
    SandboxUnavailable,
    protection,
    run,
)

__all__ = ["SandboxLimits", "SandboxResult", "SandboxUnavailable", "protection", "run"]
