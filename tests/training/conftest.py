"""A toy language for the tests: documents about one animal each, in short sentences."""

import random
from functools import cache

import pytest
import torch

from training.report import recall
from training.steps import pretrain
from training.text import primer

ANIMALS = ["cat", "dog", "horse", "goat", "duck", "fox", "mouse", "cow", "bee", "owl"]
VERBS = ["sees", "likes", "finds", "hears", "follows", "meets"]
PLACES = ["house", "river", "garden", "forest", "market", "bridge", "school", "field"]
OPENINGS = ["First", "Later", "Then", "Again", "Now", "Soon"]


def document(rng):
    animal = rng.choice(ANIMALS)
    sentences = [f"The {animal} lives near the {rng.choice(PLACES)}."]
    for _ in range(rng.randint(5, 9)):
        sentences.append(
            f"{rng.choice(OPENINGS)} the {animal} {rng.choice(VERBS)} the {rng.choice(PLACES)}."
        )
    return " ".join(sentences[:3]) + "\n" + " ".join(sentences[3:])


@pytest.fixture(scope="session")
def primer_said():
    """Return every sentence of the primer, made once."""
    return primer.primer_sentences()


@pytest.fixture(scope="module")
def few_facts():
    """Restrict the primer to facts about words of the toy language, for full runs of the recipe."""
    known = {*ANIMALS, *PLACES}
    few = tuple(
        fact
        for fact in primer.facts()
        if known.intersection(word for argument in fact.arguments for word in argument.words())
    )
    assert 50 < len(few) < 200
    primer.columns()  # cached first, because wrong words are chosen from all facts
    with pytest.MonkeyPatch.context() as patch:
        for module in (primer, recall):
            patch.setattr(module, "facts", lambda: few)
        patch.setattr(primer, "primer_sentences", cache(primer.primer_sentences))
        for module in (recall, pretrain):
            patch.setattr(module, "primer_sentences", primer.primer_sentences)
        yield few


@pytest.fixture(autouse=True)
def _threads_as_they_were():
    """Restore the number of threads, which a step of the recipe sets for the whole process."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def toy_corpus(tmp_path_factory):
    """Return a text file of 900 documents."""
    rng = random.Random(1)
    path = tmp_path_factory.mktemp("corpus") / "toy.txt"
    path.write_text("\n\n".join(document(rng) for _ in range(900)) + "\n")
    return path
