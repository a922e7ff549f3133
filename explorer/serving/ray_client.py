"""Client of a Ray cluster whose models serve as the backend of this process.

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

from explorer.context import configure
from explorer.inference.ray_backend import BackendLost, RayBackend
from explorer.models.specs import MODEL_KEYS
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.serving.start import CannotStart
from explorer.ui.kit import running
from explorer.ui.kit.strings import ELSEWHERE, WENT_AWAY

APPLICATION = "default"
"""Name that ``serve run`` gives its application."""
NO_CLUSTER = "No Ray cluster answers at {address}: {why}"
ANSWER_S = 5.0
"""Timeout in seconds for the cluster's head node; Ray itself would retry for many minutes."""
NO_MODELS = (
    "The Ray cluster at {address} has no models; on one of its machines run: "
    "serve run explorer.serving.ray_app:models"
)


@contextmanager
def plain_ray_errors() -> Iterator[None]:
    """Raise BackendLost when a machine goes away; pass on errors of the code that it ran."""
    try:
        yield
    except (RayTaskError, TimeoutError):  # Ray's own timeout is a TimeoutError too
        raise
    except (RayError, RayServeException) as lost:
        raise BackendLost(WENT_AWAY) from lost


class PendingAnswer:
    """Response of a machine that may go away before it arrives."""

    def __init__(self, response: Any) -> None:  # noqa: ANN401 - Ray's, of either kind
        self._response = response

    def result(self, timeout: float | None = None) -> Any:  # noqa: ANN401
        """Return the response.

        Raises:
            TimeoutError: it has not arrived within the timeout.
            BackendLost: the machine has gone away.
        """
        with plain_ray_errors():
            return self._response.result(timeout_s=timeout)

    def cancel(self) -> None:
        """Cancel the request on the machine, since the client has left."""
        self._response.cancel()

    def __iter__(self) -> Iterator[Any]:
        try:
            with plain_ray_errors():
                yield from self._response
        finally:
            self.cancel()


def call_group(handle: DeploymentHandle, method: str, *question: Any) -> PendingAnswer:  # noqa: ANN401
    """Send a request to any machine of a group and return its pending response."""
    target = handle.options(stream=True) if method == "stream" else handle
    return PendingAnswer(getattr(target, method).remote(*question))


def use_ray_backend(groups: Mapping[str, DeploymentHandle]) -> None:
    """Use these groups of machines as the backend; this process then refuses measurements."""
    calls = {key: partial(call_group, group) for key, group in groups.items()}
    configure(backend=RayBackend(calls))
    MEASUREMENT_LOCK.refuse_all(ELSEWHERE)
    running.widen()


def connect(address: str) -> None:
    """Use the models that a cluster serves from now on.

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
