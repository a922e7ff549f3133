"""DistilBERT's triple loss: distillation, masked language modelling, cosine of hidden states."""

from torch import Tensor
from torch.nn import functional

IGNORED = -100  # label of a position that was not masked, as in transformers
WEIGHTS = {"ce": 5.0, "mlm": 2.0, "cos": 1.0}  # DistilBERT's published weights


def mlm_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Compute the mean cross-entropy over labelled positions, in nats.

    Args:
        logits: ``[..., vocabulary]``.
        labels: Original token ids, ``[...]``; -100 at positions to ignore.

    Raises:
        ValueError: No position has a label, so the mean does not exist.
    """
    if not bool((labels != IGNORED).any()):
        raise ValueError("No masked position has a known original word, so there is no MLM loss.")
    flat = logits.float().reshape(-1, logits.shape[-1])
    return functional.cross_entropy(flat, labels.reshape(-1), ignore_index=IGNORED)


def distillation_ce(
    student_logits: Tensor, teacher_logits: Tensor, temperature: float = 2.0
) -> Tensor:
    """Compute the distillation loss of softened distributions, in nats.

    ``T^2 * KL(softmax(teacher / T) || softmax(student / T))``, averaged over positions. The
    factor ``T^2`` keeps the gradient's magnitude roughly independent of T (Hinton et al. 2015,
    section 2).

    Args:
        student_logits: ``[..., vocabulary]``.
        teacher_logits: Of the same shape, over the same vocabulary.
        temperature: Greater than 0; 1 leaves both distributions as they are.

    Raises:
        ValueError: The shapes differ, or the temperature is not a positive number.
    """
    if student_logits.shape != teacher_logits.shape:
        raise ValueError("Teacher and student must score the same positions and the same words.")
    if not 0 < temperature < float("inf"):
        raise ValueError("The temperature must be a number above 0.")
    width = student_logits.shape[-1]
    student = functional.log_softmax(student_logits.float() / temperature, dim=-1)
    teacher = functional.log_softmax(teacher_logits.float() / temperature, dim=-1)
    kl = functional.kl_div(
        student.reshape(-1, width),
        teacher.reshape(-1, width),
        reduction="batchmean",
        log_target=True,
    )
    return kl * temperature**2


def hidden_cosine(
    student_hidden: Tensor, teacher_hidden: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Compute the cosine loss of the last hidden states: mean of ``1 - cosine``, from 0 to 2.

    Args:
        student_hidden: ``[..., width]``.
        teacher_hidden: Of the same shape.
        mask: ``[...]``, true or 1 at positions that are not padding; None for all positions.

    Raises:
        ValueError: The shapes differ.
    """
    if student_hidden.shape != teacher_hidden.shape:
        raise ValueError("Teacher and student hidden states must have the same shape.")
    distance = 1 - functional.cosine_similarity(student_hidden.float(), teacher_hidden.float(), -1)
    return distance.mean() if mask is None else distance[mask.bool()].mean()


def triple_loss(
    ce: Tensor, mlm: Tensor, cos: Tensor, weights: dict[str, float] | None = None
) -> Tensor:
    """Return the weighted sum, by default ``5 L_ce + 2 L_mlm + 1 L_cos`` (Sanh et al. 2019).

    A weight of zero removes its part, as in an ablation.
    """
    chosen = WEIGHTS if weights is None else weights
    return chosen["ce"] * ce + chosen["mlm"] * mlm + chosen["cos"] * cos
