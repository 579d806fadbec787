"""Samples carried out on a Ray cluster: a benchmark on more machines than this one.

The machines compute and this process keeps: it alone writes records, one for each sample, so that
a machine that is lost takes nothing along and nothing is counted twice.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from planweave import BadInput, PlanweaveError
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.runner import carry_out
from planweave.errors import require

if TYPE_CHECKING:
    from planweave.benchmarks.core.play import Memory
    from planweave.benchmarks.core.suite import Sample

_TRIES = 4
_OWN = ("_DIR", "_KEY")  # endings of settings that are each machine's own


class ClusterLost(PlanweaveError):
    """The Ray cluster does not answer any more."""


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster that this process is connected to."""

    nodes: int
    cpus: int  # how many processors these had: as many samples run at once, at most
    _task: Any  # Ray's remote functions have no useful type

    async def carry_out(self, sample: "Sample") -> Record:
        """Run one sample on a machine of the cluster, and again elsewhere if that is lost.

        A sample whose worker was lost every time is recorded as crashed.
        """
        from ray import exceptions as ray_errors

        lost = (
            ray_errors.WorkerCrashedError,
            ray_errors.NodeDiedError,
            ray_errors.OutOfMemoryError,
        )
        try:
            done: Record = await self._task.remote(sample, _settings(), os.getcwd())
        except ray_errors.RayTaskError as failed:
            raise failed.cause from None
        except lost as error:
            return await carry_out(sample, partial(_lost, type(error).__name__))
        except ray_errors.RayError as error:
            raise ClusterLost(
                f"The Ray cluster failed ({type(error).__name__}).",
                fix="Look at it with `ray status` and start it again.",
            ) from None
        return done


@contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    """Connect to the cluster at ``address``, such as ``10.0.0.1:6379``, until the block ends.

    What still runs there when the block ends is given up.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # read when Ray is imported
    require("A benchmark on a cluster", "ray", "ray")
    import ray

    _check_answers(address)
    try:
        ray.init(address, log_to_driver=False, logging_level=logging.CRITICAL)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise _no_cluster(address, str(error).splitlines()[0]) from None
    try:
        alive = [node for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
        cpus = int(sum(node["Resources"].get("CPU", 0) for node in alive))
        task = ray.remote(num_cpus=1, max_retries=_TRIES - 1)(_work)
        yield Cluster(len(alive), cpus, task)
    finally:
        ray.shutdown()


def _check_answers(address: str) -> None:
    """Ray itself would try for two minutes."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except ValueError:
        raise _no_cluster(address, "it is not host:port.") from None
    except OSError as error:
        raise _no_cluster(address, f"{error.strerror or error}.") from None


def _no_cluster(address: str, why: str) -> BadInput:
    return BadInput(
        f"There is no Ray cluster to be used at {address}: {why}",
        fix="Run this on a machine of the cluster, with the versions of Python and Ray that its "
        "other machines have.",
    )


def _settings() -> dict[str, str]:
    """Settings of this process that a worker has to share; folders and keys are its own."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith("PLANWEAVE_") and not name.endswith(_OWN)
    }


def _work(sample: "Sample", settings: Mapping[str, str], folder: str) -> Record:
    """One sample in a worker: a process that runs samples of this benchmark one after another."""
    os.environ |= settings
    with suppress(OSError):  # names of files mean what they mean where the command was typed
        os.chdir(folder)
    return _loop().run(carry_out(sample))


@cache
def _loop() -> asyncio.Runner:
    """One event loop for all samples of a worker: connections to models stay open in it."""
    return asyncio.Runner()


async def _lost(why: str, *_: object) -> "Memory":
    """Plays a sample that no worker came back from."""
    raise ClusterLost(f"Its worker was lost {_TRIES} times ({why}).")
