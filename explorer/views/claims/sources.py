"""Where a printed source can be read: papers by number, other places by the name they have."""

import re
from collections.abc import Iterable, Mapping

from explorer.views.markup import Markup, el, join

PAPER = re.compile(r"arXiv[: ](\d{4}\.\d{4,5})(?: ?(v\d+))?")
_DISTILLATION = (
    "https://github.com/huggingface/transformers/tree/v4.40.0/"
    "examples/research_projects/distillation"
)
_ALBERT = "https://github.com/google-research/albert"
_BERT = "https://github.com/google-research/bert"
ELSEWHERE: Mapping[str, str] = {
    "Hugging Face distillation README": _DISTILLATION,
    "Hugging Face distillation code": _DISTILLATION,
    "DistilBERT code README": _DISTILLATION,
    "Hugging Face docs albert.md": "https://huggingface.co/docs/transformers/model_doc/albert",
    "Hugging Face docs": "https://huggingface.co/docs/transformers/model_doc/albert",
    "google-research/albert issue 76": f"{_ALBERT}/issues/76",
    "google-research issue 150": "https://github.com/google-research/google-research/issues/150",
    "google-research/bert README": _BERT,
    "ALBERT code README": _ALBERT,
    "albert README": _ALBERT,
    "distilbert-base-uncased pytorch_model.bin": "https://huggingface.co/distilbert/distilbert-base-uncased",
    "bert-base-uncased pytorch_model.bin": "https://huggingface.co/google-bert/bert-base-uncased",
    "GLUE leaderboard": "https://gluebenchmark.com/leaderboard",
}
"""Sources without a number, as the ledger and the tables name them."""


def addresses(texts: Iterable[str]) -> dict[str, str]:
    """Each part of these texts that is a link, and where it leads; the longest parts first."""
    all_texts = "\n".join(texts)
    found = {name: place for name, place in ELSEWHERE.items() if name in all_texts}
    for paper in PAPER.finditer(all_texts):
        found[paper[0]] = f"https://arxiv.org/abs/{paper[1]}{paper[2] or ''}"
    return dict(sorted(found.items(), key=lambda link: -len(link[0])))


def linked(text: str) -> Markup:
    """A source as it is printed, its links made links."""
    links = addresses([text])
    if not links:
        return join(text)
    parts = re.split(f"({'|'.join(map(re.escape, links))})", text)
    return join(*(_link(part, links[part]) if part in links else part for part in parts))


def _link(shown: str, address: str) -> Markup:
    return el("a", shown, href=address, target="_blank", rel="noopener")
