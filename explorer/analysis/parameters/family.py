"""The three models of a family side by side: counts, calls, and what separates each from BERT."""

from dataclasses import dataclass

from explorer.analysis.parameters.count import ParameterCounts, parameter_counts
from explorer.analysis.parameters.shape import Saving, savings
from explorer.models.choice.family import family_specs
from explorer.models.specs import ModelSpec


@dataclass(frozen=True, slots=True)
class FamilyMember:
    """One model of a family with its counts and the changes that lead to it from BERT."""

    spec: ModelSpec
    counts: ParameterCounts
    savings: tuple[Saving, ...]
    """Empty for BERT itself."""


def family_members(family: str) -> tuple[FamilyMember, ...]:
    """The members of a family in the fixed order; none if its shapes are not on this machine."""
    specs = family_specs(family)
    if not all(spec.architecture.d_vocab for spec in specs):
        return ()
    first = specs[0].architecture
    return tuple(
        FamilyMember(spec, parameter_counts(spec), savings(first, spec.architecture))
        for spec in specs
    )
