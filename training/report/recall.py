"""Recall of the primer: its facts in held-out wordings, and the probe in two parts."""

from collections.abc import Sequence
from typing import Any

from torch import nn
from transformers import PreTrainedTokenizerBase

from training.report.cloze_eval import answers, probe_questions, whole_words
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
    """Return the size of the primer, and its share of a run's batches."""
    return {"facts": len(facts()), "sentences": len(primer_sentences()), "share": share}


def recall_figures(
    model: nn.Module,
    tokenizer: PreTrainedTokenizerBase,
    questions: Sequence[PrimerQuestion] | None = None,
) -> dict[str, Any]:
    """Evaluate a model on the primer's held-out questions and on the probe's two parts."""
    names = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    questions = held_out_questions() if questions is None else questions
    texts = [{"text": question.text, "accepted": question.accepted} for question in questions]
    pairs = zip(questions, probe_questions(tokenizer, texts), strict=True)
    fitting = [pair for pair in pairs if len(pair[1].ids) <= model.config.max_position_embeddings]
    result = answers(model, [cloze for _, cloze in fitting], names)
    kinds: dict[str, list[bool]] = {}
    for (question, _), right in zip(fitting, result.first, strict=True):
        kinds.setdefault(question.kind, []).append(right)
    whole, words = set(whole_words(names)), primer_words()
    figures = {
        "primer_top1": result.top1,
        "primer_top5": result.top5,
        "primer_count": len(fitting),
        "primer_kinds": {kind: sum(right) / len(right) for kind, right in kinds.items()},
        "primer_whole": sum(word in whole for word in words) / len(words),
    }
    for part, sentences in zip(PARTS, probe_parts(), strict=True):
        result = answers(model, probe_questions(tokenizer, sentences), names)
        figures |= {f"probe_{part}_top1": result.top1, f"probe_{part}_top5": result.top5}
        figures[f"probe_{part}_count"] = len(sentences)
    return figures
