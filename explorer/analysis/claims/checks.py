"""Live checks by id, and their verdicts on the printed claims that they test."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from explorer.analysis.claims import (
    answer_checks,
    architecture_checks,
    published,
    size_checks,
    tuning_checks,
)
from explorer.analysis.claims.ledger import Claim, claims_ledger
from explorer.analysis.claims.outcomes import CheckOutcome, CheckResult, ClaimVerdict
from explorer.analysis.distillation.soft import NotAPair
from explorer.models.architectures import CheckModels, family_check_models
from explorer.models.hub import ModelUnavailable
from explorer.models.loading import LoadedModel, leased
from explorer.models.specs import ModelSpec, NetworkKey
from explorer.refusal import Refusal, Sentence

CHECKS: dict[str, Callable[[CheckModels], CheckOutcome]] = {
    "LC01": size_checks.parameter_totals,
    "LC02": size_checks.saving_breakdown,
    "LC03": size_checks.forward_times,
    "LC04": size_checks.forward_operations,
    "LC05": size_checks.weight_bytes,
    "LC06": size_checks.memory_split,
    "LC07": architecture_checks.shared_layers,
    "LC08": size_checks.depth_growth,
    "LC09": size_checks.factorised_embedding,
    "LC10": size_checks.sharing_modes,
    "LC11": size_checks.embedding_rank,
    "LC12": architecture_checks.segment_effect,
    "LC13": answer_checks.masking_shares,
    "LC14": answer_checks.pair_shares,
    "LC15": answer_checks.next_sentence_head,
    "LC16": answer_checks.sentence_order_head,
    "LC17": answer_checks.triple_loss_parts,
    "LC18": answer_checks.layer_alignment,
    "LC19": answer_checks.layer_lineage,
    "LC20": answer_checks.fill_agreement,
    "LC21": tuning_checks.sentiment_accuracy,
    "LC22": architecture_checks.attention_formula,
    "LC23": architecture_checks.both_directions,
    "LC24": architecture_checks.position_effect,
    "LC25": architecture_checks.longest_text,
    "LC26": published.scores_kept,
    "LC27": size_checks.training_steps,
    "LC28": answer_checks.layer_steps,
    "LC29": tuning_checks.answer_overlap,
    "LC30": published.printed_cells,
    "LC31": size_checks.printed_shapes,
    "LC32": architecture_checks.special_tokens,
    "LC33": size_checks.classifier_head,
    "LC34": architecture_checks.updated_rows,
    "LC35": size_checks.reading_in_order,
    "LC36": tuning_checks.untrained_heads,
    "LC37": tuning_checks.named_entities,
}
TIMED: frozenset[str] = frozenset({"LC03", "LC27", "LC35"})
"""Checks that time something and therefore run alone."""


def checked(key: NetworkKey, family: str, check: str, presses: int) -> CheckResult:
    """Return ``check_result`` of a family on the device and in the precision of ``key``."""

    def lease(spec: ModelSpec) -> AbstractContextManager[LoadedModel]:
        return leased(spec, key.device, key.dtype)

    return check_result(check, family_check_models(family, lease, presses))


def timed(key: NetworkKey, family: str, check: str, presses: int) -> CheckResult:
    """Return ``checked``; a separate job because a timed check runs alone on the machine."""
    return checked(key, family, check, presses)


def check_result(check: str, models: CheckModels) -> CheckResult:
    """Run one live check; without its weights the result has the status ``waits``.

    Raises:
        Refusal: there is no such check.
    """
    if check not in CHECKS:
        raise Refusal(Sentence("no-such-check", "There is no such check."))
    try:
        measured = CHECKS[check](models)
    except (ModelUnavailable, NotAPair) as error:
        return CheckResult(check, "waits", str(error), "", False, {})
    status = {True: "holds", False: "fails", None: "undecided"}[measured.holds]
    judged = {claim.id: _judge(claim, check, measured) for claim in claims_ledger().claims}
    verdicts = {claim: tests for claim, tests in judged.items() if tests}
    fields = (measured.text, measured.on, measured.published)
    return CheckResult(check, status, *fields, verdicts, check in TIMED)


def _judge(claim: Claim, check: str, measured: CheckOutcome) -> tuple[ClaimVerdict, ...]:
    return tuple(
        ClaimVerdict(
            measured.quantities[test.quantity].text,
            test.holds(*measured.quantities[test.quantity].ends),
        )
        for test in claim.live
        if test.check == check
    )
