"""A toy language for the tests: documents about one animal each, in short sentences."""

import random

import pytest

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
def toy_corpus(tmp_path_factory):
    """900 documents in one text file."""
    rng = random.Random(1)
    path = tmp_path_factory.mktemp("corpus") / "toy.txt"
    path.write_text("\n\n".join(document(rng) for _ in range(900)) + "\n")
    return path
