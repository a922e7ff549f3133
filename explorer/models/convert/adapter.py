"""An adapter (LoRA) merged into the model that it was trained on."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.models.choice.files import ADAPTER
from explorer.models.choice.refused import NotAModel, read_json
from explorer.models.hub import has_weights
from explorer.refusal import Sentence, brief

if TYPE_CHECKING:
    from transformers import PreTrainedModel

NEEDS_PEFT = Sentence(
    "adapter-needs-peft",
    "Merging an adapter needs peft: pip install 'bert-family-explorer[training]'.",
)
NO_BASE = Sentence(
    "adapter-without-base",
    "{source} is an adapter of {base}, which is no folder with a model.safetensors here: download "
    "it, and write its path as base_model_name_or_path into adapter_config.json.",
)
NO_POOLER = Sentence(
    "adapter-without-pooler",
    "{source} was trained with a pooler that neither its folder nor {base} holds: it would be "
    "random at each load.",
)
WITHOUT_BIAS = (
    "The adapter trains rows of the word embeddings ({words}). The output layer is tied to them, "
    "and its bias was not trained."
)
BOTH_SIDES = (
    "The adapter changes the word embeddings, to which the output layer is tied: merging changes "
    "the output too."
)
TASKS = {
    "SEQ_CLS": "AutoModelForSequenceClassification",
    "TOKEN_CLS": "AutoModelForTokenClassification",
    "QUESTION_ANS": "AutoModelForQuestionAnswering",
}


def merge_adapter(source: Path, target: Path) -> tuple[str, ...]:
    """Write the model with its adapter merged; return what that changes beyond the adapter.

    Raises:
        NotAModel: peft or the model is not here, or a part that was trained is in neither folder.
    """
    try:
        from peft import PeftModel
    except ImportError as error:
        raise NotAModel(NEEDS_PEFT) from error
    settings = read_json(source / ADAPTER, str(source))
    base = Path(str(settings.get("base_model_name_or_path"))).expanduser()
    if not (base.is_dir() and has_weights(base)):
        raise NotAModel(NO_BASE.format(source=source, base=brief(base)))
    network, missing = _base_network(base, settings)
    if _lost_pooler(source, settings, missing):
        raise NotAModel(NO_POOLER.format(source=source, base=base))
    merged = PeftModel.from_pretrained(network, source).merge_and_unload()
    merged.save_pretrained(target)
    return tuple(_notes(network, settings))


def _base_network(base: Path, settings: dict[str, Any]) -> "tuple[PreTrainedModel, list[str]]":
    """Return the network that the adapter is for, and the weights that its folder lacks."""
    import transformers

    values = read_json(base / "config.json", str(base))
    named = (values.get("architectures") or ["AutoModelForPreTraining"])[0]
    name = TASKS.get(str(settings.get("task_type")), named)
    kind = getattr(transformers, str(name), transformers.AutoModelForPreTraining)
    network, info = kind.from_pretrained(base, local_files_only=True, output_loading_info=True)
    return network, sorted(info["missing_keys"])


def _lost_pooler(source: Path, settings: dict[str, Any], missing: list[str]) -> bool:
    """Return whether a classifier reads a pooler that is in neither folder."""
    from safetensors import safe_open

    if settings.get("task_type") != "SEQ_CLS" or not any("pooler" in name for name in missing):
        return False
    with safe_open(source / "adapter_model.safetensors", "pt") as opened:
        return not any("pooler" in name for name in opened.keys())  # noqa: SIM118


def _notes(network: "PreTrainedModel", settings: dict[str, Any]) -> list[str]:
    """Return what merging means for an output layer that is tied to the word embeddings."""
    is_tied = network.get_output_embeddings() is not None and network.config.tie_word_embeddings
    if not is_tied:
        return []
    notes, rows = [], settings.get("trainable_token_indices")
    if rows:
        words = ", ".join(rows) if isinstance(rows, dict) else "trainable tokens"
        notes.append(WITHOUT_BIAS.format(words=brief(words)))
    targets = settings.get("target_modules") or []
    named = [targets] if isinstance(targets, str) else targets
    if any("word_embeddings" in str(target) for target in named):
        notes.append(BOTH_SIDES)
    return notes
