"""Specimens: the networks that live checks look at; a test puts tampered ones in their place."""

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
    """Where a check takes its networks from: bare shapes, random weights, the chosen family."""

    family: str
    leased: Callable[[str], AbstractContextManager[LoadedModel]]
    """A lease on the family's model of a key; raises ModelUnavailable where there is none."""
    shape: Callable[[ModelSpec], PreTrainedModel] = meta_network
    """A spec's network without numbers."""
    random: Callable[[ModelSpec], PreTrainedModel] = random_network
    """A spec's network with random numbers."""
    sharing: Callable[[ModelSpec, str], PreTrainedModel] = sharing_network
    """An ALBERT whose layers share a part, without numbers."""
    presses: int = 1
    """How often the reader has asked: a timed check takes so many times its usual rounds."""

    def of_each(
        self, keys: Iterable[str], measure: Callable[[LoadedModel], Value]
    ) -> dict[str, Value]:
        """What is measured of the family's models of some keys, each kept for its turn alone."""
        found = {}
        for key in keys:
            with self.leased(key) as loaded:
                found[key] = measure(loaded)
        return found


def family_check_models(
    family: str,
    lease: Callable[[ModelSpec], AbstractContextManager[LoadedModel]] = leased,
    presses: int = 1,
) -> CheckModels:
    """The untampered specimens of a family; a model is loaded when a check first asks for it."""
    specs = specs_by_key(family)
    return CheckModels(family, lambda key: lease(specs[key]), presses=presses)
