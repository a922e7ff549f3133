"""The models of a Ray cluster as this process's place of the weights.

Needs ``deploy/requirements-serve.txt``.
"""

import logging
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import ray
from ray import serve
from ray.exceptions import RayError, RayTaskError
from ray.serve.exceptions import RayServeException
from ray.serve.handle import DeploymentHandle

from explorer.inference import runs
from explorer.inference.ray_backend import BackendLost, RayBackend
from explorer.inference.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.models.specs import MODEL_KEYS
from explorer.serving.start import CannotStart
from explorer.ui.kit import running
from explorer.ui.kit.strings import ELSEWHERE, WENT_AWAY

APPLICATION = "default"
"""What ``serve run`` calls what it starts."""
NO_CLUSTER = "No Ray cluster answers at {address}: {why}"
ANSWER_S = 5.0
"""How long the cluster's head may take to answer; Ray itself would ask for many minutes."""
NO_MODELS = (
    "The Ray cluster at {address} has no models; on one of its machines run: "
    "serve run explorer.serving.ray_app:models"
)


@contextmanager
def plain_ray_errors() -> Iterator[None]:
    """A machine that goes away is one sentence; a fault in what it ran stays a fault."""
    try:
        yield
    except (RayTaskError, TimeoutError):  # the latter is one of Ray's own too
        raise
    except (RayError, RayServeException) as lost:
        raise BackendLost(WENT_AWAY) from lost


class PendingAnswer:
    """An answer of a machine that may go away before it comes."""

    def __init__(self, response: Any) -> None:  # noqa: ANN401 - Ray's, of either kind
        self._response = response

    def result(self, timeout: float | None = None) -> Any:  # noqa: ANN401
        """The answer.

        Raises:
            TimeoutError: it has not come yet. Gone: it never will.
        """
        with plain_ray_errors():
            return self._response.result(timeout_s=timeout)

    def cancel(self) -> None:
        """Let the machine know that nobody listens any more."""
        self._response.cancel()

    def __iter__(self) -> Iterator[Any]:
        try:
            with plain_ray_errors():
                yield from self._response
        finally:
            self.cancel()


def call_group(handle: DeploymentHandle, method: str, *question: Any) -> PendingAnswer:  # noqa: ANN401
    """Put a question to any machine of a group."""
    asked = handle.options(stream=True) if method == "stream" else handle
    return PendingAnswer(getattr(asked, method).remote(*question))


def use_ray_backend(groups: Mapping[str, DeploymentHandle]) -> None:
    """From now on this process holds no network and times nothing."""
    runs.BACKEND[:] = [
        RayBackend({key: partial(call_group, group) for key, group in groups.items()})
    ]
    MEASUREMENT_LOCK.refuse_all(ELSEWHERE)
    running.widen()


def connect(address: str) -> None:
    """Ask the models that a cluster serves, from now on.

    Args:
        address: ``auto`` (the cluster that this machine belongs to) or ``HOST:6379``.

    Raises:
        CannotStart: there is no such cluster, or it serves no models.
    """
    try:
        host, _, port = address.rpartition(":")
        if port.isdecimal():
            socket.create_connection((host, int(port)), ANSWER_S).close()
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RayError, ValueError) as error:
        raise CannotStart(NO_CLUSTER.format(address=address, why=error)) from error
    try:
        use_ray_backend({key: serve.get_deployment_handle(key, APPLICATION) for key in MODEL_KEYS})
    except (RayServeException, KeyError) as error:  # no Serve there, or not these models
        raise CannotStart(NO_MODELS.format(address=address)) from error
