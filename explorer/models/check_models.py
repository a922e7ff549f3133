"""Networks that the live checks inspect; tests replace them by tampered ones."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeVar

from transformers import PreTrainedModel

from explorer.models.architectures import meta_network, random_network, sharing_network
from explorer.models.choice.family import specs_by_key
from explorer.models.loading import LoadedModel, leased
from explorer.models.specs import ModelSpec

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class CheckModels:
    """Sources of the networks for a check: meta shapes, random weights, the chosen family."""

    family: str
    leased: Callable[[str], AbstractContextManager[LoadedModel]]
    """A lease on the family's model of a key; raises ModelUnavailable where there is none."""
    shape: Callable[[ModelSpec], PreTrainedModel] = meta_network
    """Builder of a spec's network on the meta device."""
    random: Callable[[ModelSpec], PreTrainedModel] = random_network
    """Builder of a spec's network with random weights."""
    sharing: Callable[[ModelSpec, str], PreTrainedModel] = sharing_network
    """Builder of an ALBERT whose layers share the parts of a mode, on the meta device."""
    presses: int = 1
    """Number of requests for the check so far: a timed check multiplies its rounds by it."""

    def of_each(
        self, keys: Iterable[str], measure: Callable[[LoadedModel], Value]
    ) -> dict[str, Value]:
        """Return a measurement of each of the family's models, by key; one lease at a time."""
        results = {}
        for key in keys:
            with self.leased(key) as loaded:
                results[key] = measure(loaded)
        return results


def family_check_models(
    family: str,
    lease: Callable[[ModelSpec], AbstractContextManager[LoadedModel]] = leased,
    presses: int = 1,
) -> CheckModels:
    """Return the untampered networks of a family; each model is loaded on its first lease."""
    specs = specs_by_key(family)
    return CheckModels(family, lambda key: lease(specs[key]), presses=presses)
