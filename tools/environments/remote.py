"""Environments in separate processes, which may crash, hang, or grow.

The parent records the actions of a task. A process that dies or runs too long is counted and ended.
A fresh process begins the same task, repeats the actions, and gets one more try.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar, Protocol, cast

from planweave import BadInput
from planweave.tools.environments.base import (
    Environment,
    EnvironmentFailed,
    EnvironmentUnavailable,
    Observation,
    Task,
)
from planweave.tools.process import Channel, HelperProcess, ProcessEnded

_STARTING = 120.0  # seconds for loading the libraries


class RemoteWorld(Protocol):
    """The environment inside the process."""

    def begin(self, task: Mapping[str, Any]) -> Observation:
        """Start a task."""

    def act(self, action: str) -> Observation:
        """Do one action."""

    def admissible(self) -> Sequence[str]:
        """The possible actions."""

    def about(self, what: str) -> object:  # noqa: ARG002 (a world may know nothing)
        """Information about its tasks, if these need no file; abandons the task in progress."""
        return None


def serve(make: type[RemoteWorld]) -> None:
    """Run in the process: make the world, then answer requests until the parent ends."""
    channel = Channel()
    channel.receive()
    try:
        world = make()
    except (ImportError, OSError) as error:
        channel.send({"missing": str(error)})
        return
    channel.send({})
    while True:
        request = channel.receive()
        if "begin" in request:
            channel.send(asdict(world.begin(request["begin"])))
        elif "act" in request:
            channel.send(asdict(world.act(request["act"])))
        elif "about" in request:
            channel.send({"about": world.about(request["about"])})
        else:
            channel.send({"admissible": list(world.admissible())})


class RemoteEnvironment(Environment):
    """The parent's side; a subclass defines the tasks and how each begins.

    Args:
        module: Its ``main()`` calls :func:`serve`.
        install: The command that installs what the process needs.

    Attributes:
        crashes: How often the process died.
        timeouts: How often it was ended because a step took too long.
    """

    step_seconds: ClassVar[float] = 60.0
    tasks_a_process: ClassVar[int] = 50
    """Tasks for each process: these libraries grow over long runs, so a fresh process follows."""
    variables: ClassVar[Mapping[str, str]] = {}

    def __init__(self, module: str, *, install: str) -> None:
        self._module, self._install = module, install
        self._process: HelperProcess | None = None
        self._begun = 0
        self._task: dict[str, object] = {}
        self._done: list[str] = []
        self.crashes = self.timeouts = 0

    @abstractmethod
    def begin(self, task: Task) -> dict[str, object]:
        """The request that makes the process begin ``task``."""

    def reset(self, task: Task) -> Observation:
        """See :class:`Environment`."""
        self._leave_task()
        self._task = {"begin": self.begin(task)}
        return self._observe(self._task)

    def step(self, action: str) -> Observation:
        """See :class:`Environment`."""
        if not self._task:
            raise BadInput("No task has begun.", fix="Reset the environment to a task first.")
        seen = self._observe({"act": action})
        self._done.append(action)
        return seen

    def admissible(self) -> tuple[str, ...]:
        """See :class:`Environment`."""
        answer = self._ask({"admissible": True})
        return tuple(cast("list[str]", answer["admissible"]))

    def about(self, what: str) -> Any:
        """Ask the process about its tasks; abandons the task in progress."""
        self._leave_task()
        return self._ask({"about": what})["about"]

    def _leave_task(self) -> None:
        """Abandon the task in progress; after many tasks end the process too."""
        if self._begun >= self.tasks_a_process:
            self.close()
        self._task, self._done = {}, []
        self._begun += 1

    def close(self) -> None:
        """See :class:`Environment`."""
        if self._process:
            self._process.stop()
        self._process, self._begun = None, 0

    def _observe(self, request: Mapping[str, object]) -> Observation:
        answer = self._ask(request)
        score = min(1.0, max(0.0, cast("float", answer["score"])))
        return Observation(str(answer["text"]), done=bool(answer["done"]), score=score)

    def _ask(self, request: Mapping[str, object]) -> dict[str, object]:
        """Ask the process; if it ends, ask a fresh one, once."""
        try:
            return self._ask_once(request)
        except ProcessEnded as end:
            self._count(end)
        try:
            return self._ask_once(request)
        except ProcessEnded as end:
            self._count(end)
            reason = "takes too long" if end.late else "crashes"
            raise EnvironmentFailed(
                f"The environment {self.name} {reason}, in a fresh process too.",
                fix="Leave this task out, or give the machine more memory.",
            ) from end

    def _ask_once(self, request: Mapping[str, object]) -> dict[str, object]:
        begun = bool(self._task) and request is not self._task
        process = self._process or self._start_process(begun=begun)
        return process.ask(request, self.step_seconds)

    def _count(self, end: ProcessEnded) -> None:
        self.timeouts += end.late
        self.crashes += not end.late
        self.close()

    def _start_process(self, *, begun: bool) -> HelperProcess:
        """A new process; if a task has ``begun``, it repeats the actions so far."""
        process = self._process = HelperProcess(self._module, self.variables)
        answer = process.ask({}, _STARTING)
        if "missing" in answer:
            self.close()
            raise EnvironmentUnavailable(
                f"The environment {self.name} does not start: {answer['missing']}.",
                fix=f"Install what it needs: {self._install}",
            )
        if begun:
            process.ask(self._task, self.step_seconds)
            for action in self._done:
                process.ask({"act": action}, self.step_seconds)
        return process
