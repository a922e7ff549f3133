"""The live checks by id, and what each says about the printed claims it bears on."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from explorer.analysis.claims import answer_checks as claims_pairs
from explorer.analysis.claims import answer_checks as claims_runs
from explorer.analysis.claims import answer_checks as claims_tasks
from explorer.analysis.claims import architecture_checks as claims_attention
from explorer.analysis.claims import architecture_checks as claims_layers
from explorer.analysis.claims import ledger as claims_published
from explorer.analysis.claims import size_checks as claims_cost
from explorer.analysis.claims import size_checks as claims_counts
from explorer.analysis.claims.ledger import Claim, claims_ledger
from explorer.analysis.claims.outcomes import CheckOutcome, CheckResult, ClaimVerdict
from explorer.analysis.distillation.soft import NotAPair
from explorer.models.check_models import CheckModels, family_check_models
from explorer.models.hub import ModelUnavailable
from explorer.models.loading import LoadedModel, leased
from explorer.models.specs import ModelSpec, NetworkKey
from explorer.refusal import Refusal

CHECKS: dict[str, Callable[[CheckModels], CheckOutcome]] = {
    "LC01": claims_counts.parameter_totals,
    "LC02": claims_counts.saving_breakdown,
    "LC03": claims_cost.forward_times,
    "LC04": claims_cost.forward_operations,
    "LC05": claims_counts.weight_bytes,
    "LC06": claims_cost.memory_split,
    "LC07": claims_layers.shared_layers,
    "LC08": claims_counts.depth_growth,
    "LC09": claims_counts.factorised_embedding,
    "LC10": claims_counts.sharing_modes,
    "LC11": claims_counts.embedding_rank,
    "LC12": claims_layers.segment_effect,
    "LC13": claims_pairs.masking_shares,
    "LC14": claims_pairs.pair_shares,
    "LC15": claims_pairs.next_sentence_head,
    "LC16": claims_pairs.sentence_order_head,
    "LC17": claims_runs.triple_loss_parts,
    "LC18": claims_runs.layer_alignment,
    "LC19": claims_runs.layer_lineage,
    "LC20": claims_runs.fill_agreement,
    "LC21": claims_tasks.sentiment_accuracy,
    "LC22": claims_attention.attention_formula,
    "LC23": claims_attention.both_directions,
    "LC24": claims_attention.position_effect,
    "LC25": claims_layers.longest_text,
    "LC26": claims_published.scores_kept,
    "LC27": claims_cost.training_steps,
    "LC28": claims_runs.layer_steps,
    "LC29": claims_tasks.answer_overlap,
    "LC30": claims_published.printed_cells,
    "LC31": claims_counts.printed_shapes,
    "LC32": claims_layers.special_tokens,
    "LC33": claims_counts.classifier_head,
    "LC34": claims_layers.updated_rows,
}
TIMED: frozenset[str] = frozenset({"LC03", "LC27"})
"""Checks that time something and therefore run alone."""


def checked(where: NetworkKey, family: str, check: str, presses: int) -> CheckResult:
    """``check_result`` of a family, loaded on the device and in the precision of ``where``."""

    def lease(spec: ModelSpec) -> AbstractContextManager[LoadedModel]:
        return leased(spec, where.device, where.dtype)

    return check_result(check, family_check_models(family, lease, presses))


def timed(where: NetworkKey, family: str, check: str, presses: int) -> CheckResult:
    """``checked``, for what has the machine to itself."""
    return checked(where, family, check, presses)


def check_result(check: str, specimens: CheckModels) -> CheckResult:
    """Run one live check; one whose weights cannot be had says what it waits for.

    Raises:
        Refusal: there is no such check.
    """
    if check not in CHECKS:
        raise Refusal("There is no such check.")
    try:
        measured = CHECKS[check](specimens)
    except (ModelUnavailable, NotAPair) as missing:
        return CheckResult(check, "waits", str(missing), "", False, {})
    status = {True: "holds", False: "fails", None: "undecided"}[measured.holds]
    judged = {claim.id: _judge(claim, check, measured) for claim in claims_ledger().claims}
    verdicts = {claim: tests for claim, tests in judged.items() if tests}
    said = (measured.text, measured.on, measured.published)
    return CheckResult(check, status, *said, verdicts, check in TIMED)


def _judge(claim: Claim, check: str, measured: CheckOutcome) -> tuple[ClaimVerdict, ...]:
    return tuple(
        ClaimVerdict(
            measured.quantities[test.quantity].text,
            test.holds(*measured.quantities[test.quantity].ends),
        )
        for test in claim.live
        if test.check == check
    )
