"""What a model knows of the primer: its facts in wordings that it never read, and in the probe."""

from collections.abc import Sequence
from typing import Any

from torch import nn
from transformers import PreTrainedTokenizerBase

from training.report.cloze_eval import answers, probe_asked, whole_words
from training.text.primer import (
    PrimerQuestion,
    facts,
    held_out_questions,
    primer_sentences,
    primer_words,
)
from training.text.probe_parts import probe_parts

PARTS = ("taught", "untaught")


def primer_size(share: float) -> dict[str, float]:
    """How large the primer is, and which share of a run's batches it had."""
    return {"facts": len(facts()), "sentences": len(primer_sentences()), "share": share}


def recall_figures(
    model: nn.Module,
    tokenizer: PreTrainedTokenizerBase,
    questions: Sequence[PrimerQuestion] | None = None,
) -> dict[str, Any]:
    """Answers to the primer's held-out questions, and to the probe's two parts."""
    names = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    questions = held_out_questions() if questions is None else questions
    texts = [{"text": one.text, "accepted": one.accepted} for one in questions]
    both = zip(questions, probe_asked(tokenizer, texts), strict=True)
    fitting = [pair for pair in both if len(pair[1].ids) <= model.config.max_position_embeddings]
    found = answers(model, [asked for _, asked in fitting], names)
    kinds: dict[str, list[bool]] = {}
    for (one, _), right in zip(fitting, found.first, strict=True):
        kinds.setdefault(one.kind, []).append(right)
    whole, words = set(whole_words(names)), primer_words()
    figures = {
        "primer_top1": found.top1,
        "primer_top5": found.top5,
        "primer_count": len(fitting),
        "primer_kinds": {kind: sum(right) / len(right) for kind, right in kinds.items()},
        "primer_whole": sum(word in whole for word in words) / len(words),
    }
    for part, sentences in zip(PARTS, probe_parts(), strict=True):
        found = answers(model, probe_asked(tokenizer, sentences), names)
        figures |= {f"probe_{part}_top1": found.top1, f"probe_{part}_top5": found.top5}
        figures[f"probe_{part}_count"] = len(sentences)
    return figures
