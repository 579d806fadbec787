"""Environments in which agents carry out plans: each safe and usable without a language model."""

from planweave.tools.environments.base import OPEN as OPEN
from planweave.tools.environments.base import Environment as Environment
from planweave.tools.environments.base import EnvironmentFailed as EnvironmentFailed
from planweave.tools.environments.base import EnvironmentUnavailable as EnvironmentUnavailable
from planweave.tools.environments.base import Observation as Observation
from planweave.tools.environments.base import Task as Task
from planweave.tools.environments.base import one_action as one_action
from planweave.tools.environments.opening import ENVIRONMENTS as ENVIRONMENTS
from planweave.tools.environments.opening import moves as moves
from planweave.tools.environments.opening import open_environment as open_environment
