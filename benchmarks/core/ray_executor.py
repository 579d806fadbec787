"""Runs samples on the machines of a Ray cluster.

Only this process writes records, one for each sample, so that a lost machine loses no record and no
sample counts twice.
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
_MACHINE_SETTINGS = ("_DIR", "_KEY")  # endings of settings that differ between machines


class ClusterLost(PlanweaveError):
    """The Ray cluster no longer answers."""


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster that this process is connected to."""

    nodes: int
    cpus: int  # their processors: the most samples that run at once
    _task: Any  # Ray's remote functions have no useful type

    async def carry_out(self, sample: "Sample") -> Record:
        """Run one sample on a machine of the cluster, and again elsewhere if it is lost.

        A sample whose worker is lost every time is recorded as crashed.
        """
        from ray import exceptions as ray_errors

        lost = (
            ray_errors.WorkerCrashedError,
            ray_errors.NodeDiedError,
            ray_errors.OutOfMemoryError,
        )
        try:
            done: Record = await self._task.remote(sample, _shared_settings(), os.getcwd())
        except ray_errors.RayTaskError as failed:
            raise failed.cause from None
        except lost as error:
            return await carry_out(sample, partial(_raise_worker_lost, type(error).__name__))
        except ray_errors.RayError as error:
            raise ClusterLost(
                f"The Ray cluster failed ({type(error).__name__}).",
                fix="Look at it with `ray status` and start it again.",
            ) from None
        return done


@contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    """Connect to the cluster at ``address``, such as ``10.0.0.1:6379``, until the block ends.

    The end of the block abandons all active samples.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # read when Ray is imported
    require("A benchmark on a cluster", "ray", "ray")
    import ray

    _check_reachable(address)
    try:
        ray.init(address, log_to_driver=False, logging_level=logging.CRITICAL)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise _cluster_error(address, str(error).splitlines()[0]) from None
    try:
        alive = [node for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
        cpus = int(sum(node["Resources"].get("CPU", 0) for node in alive))
        task = ray.remote(num_cpus=1, max_retries=_TRIES - 1)(_run_in_worker)
        yield Cluster(len(alive), cpus, task)
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raise at once if nothing listens at the address; Ray would try for two minutes."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except ValueError:
        raise _cluster_error(address, "it is not host:port.") from None
    except OSError as error:
        raise _cluster_error(address, f"{error.strerror or error}.") from None


def _cluster_error(address: str, why: str) -> BadInput:
    return BadInput(
        f"There is no usable Ray cluster at {address}: {why}",
        fix="Run this on a machine of the cluster, with the versions of Python and Ray that its "
        "other machines have.",
    )


def _shared_settings() -> dict[str, str]:
    """The settings of this process that a worker shares: all but folders and keys."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith("PLANWEAVE_") and not name.endswith(_MACHINE_SETTINGS)
    }


def _run_in_worker(sample: "Sample", settings: Mapping[str, str], folder: str) -> Record:
    """Run one sample in a worker, which runs samples of this benchmark one after another."""
    os.environ |= settings
    with suppress(OSError):  # so that relative paths stay valid
        os.chdir(folder)
    return _loop().run(carry_out(sample))


@cache
def _loop() -> asyncio.Runner:
    """The event loop of a worker: it keeps connections to models open between samples."""
    return asyncio.Runner()


async def _raise_worker_lost(why: str, *_: object) -> "Memory":
    """Raise instead of playing, so that the sample is recorded as crashed."""
    raise ClusterLost(f"Its worker was lost {_TRIES} times ({why}).")
