"""Each public function answers what its endpoint answers, to the byte."""

import inspect
import json

import pytest

import explorer
from explorer.refusal import Refusal
from explorer.ui.shell.api import ENDPOINTS
from tests.public_names import ARGUMENTS

TEXTS = [
    "The cat sat on the [MASK].",
    "[MASK]",
    "The [MASK] of the [MASK] is blue.",
    "It rained. [SEP] We [MASK] at home.",
    "naïve café [MASK] résumé",
    "a [MASK] – b … c",
    "She said [he|she] was [MASK].",
    "UPPER [MASK] lower",
    "東京は [MASK] です",
    "  two   spaces [MASK]  ",
]
OTHERS = {
    "– b": "– d",
    "cat": "dog",
    "said": "sail",
    "UPPER": "UPPES",
    "blue": "flue",
    "home": "hole",
    "naïve": "waïve",
    "two": "ten",
}
"""A word of most texts, and what stands in its place in a second text."""
TIMED = {"latency"}
NO_ROWS = {"entities"}
"""The bundled models label no tokens."""
pytestmark = pytest.mark.usefixtures("three_sentences")


def as_bytes(answer):
    return json.dumps(answer, ensure_ascii=False).encode()


def answer_or_refusal(function, given):
    """A text in which nothing can be replaced cannot be patched: that too is said alike."""
    try:
        found = function(**given)
    except Refusal as refusal:
        return str(refusal)
    return as_bytes(found if isinstance(found, dict) else found.to_dict())


def asked_of(name, text):
    """The arguments of one request: the text stands for every text that the endpoint takes."""
    if name == "parameters":
        return {"models": [["mini-bert", "bert-base-uncased"], ["mini-albert"]][len(text) % 2]}
    plain = text.replace("[MASK]", "word").replace("[he|she]", "she")
    given = dict(ARGUMENTS[name])
    if name == "patch":
        given["second"] = text
        for was, becomes in OTHERS.items():
            given["second"] = given["second"].replace(was, becomes)
    words = {
        "text": plain if name in ("sentiment", "classify", "entities", "score") else text,
        "first": plain,
        "passage": plain,
    }
    return {argument: words.get(argument, value) for argument, value in given.items()}


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(ENDPOINTS) - TIMED))
def test_a_function_answers_what_its_endpoint_answers(tuned_family, name):
    answers = []
    for text in TEXTS:
        given = asked_of(name, text)
        answers.append(answer_or_refusal(getattr(explorer, name), given))
        assert answers[-1] == answer_or_refusal(ENDPOINTS[name], given), text
    refused = [answer for answer in answers if isinstance(answer, str)]
    assert len(refused) <= (2 if name == "patch" else 0), refused


def test_every_endpoint_is_a_function_with_the_same_arguments():
    for name, endpoint in ENDPOINTS.items():
        function = getattr(explorer, name)
        assert name in explorer.__all__
        given, offered = (
            {n: p.default for n, p in inspect.signature(one).parameters.items()}
            for one in (endpoint, function)
        )
        assert given == offered, name


@pytest.mark.long
def test_a_measurement_has_the_fields_of_its_endpoint(tiny_family, eight_rounds):
    result = explorer.latency("mini", 4, 1, 2).to_dict()
    answer = ENDPOINTS["latency"]("mini", 4, 1, 2)
    assert list(result) == list(answer)
    assert list(result["models"][0]) == list(answer["models"][0])


@pytest.mark.parametrize("name", sorted(set(ENDPOINTS) - TIMED))
def test_every_result_has_a_frame_a_figure_and_html_without_scripts(tuned_family, name):
    result = getattr(explorer, name)(**asked_of(name, TEXTS[0]))
    frame = result.to_frame()
    assert tuple(frame.columns) == result.COLUMNS
    assert len(frame) == len(result.rows())
    assert name in NO_ROWS or (len(frame) and result.figure().data)
    html = result._repr_html_()
    assert "<script" not in html
    assert "http" not in html.replace("http://www.w3.org", "")
    assert "prefers-color-scheme:dark" in html
    assert name in ("layer", "pair") or "<" in html
    json.dumps(result.to_dict(), allow_nan=False)
