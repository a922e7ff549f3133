"""What ``help`` says of a public function: its arguments, its result, its errors, and an example that runs."""

import doctest
import inspect

import numpy as np
import pytest

import explorer

FUNCTIONS = {name: getattr(explorer, name) for name in explorer.__all__ if name[0].islower()}
OF_ONES_OWN = {"convert", "entities", "finetune"}
"""Functions whose call needs a checkpoint or a list of the reader's own, in tests of their own."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_has_every_part(name):
    text = inspect.getdoc(FUNCTIONS[name])
    parts = ["Args:", "Returns:", "Raises:", *([] if name in OF_ONES_OWN else ["Example:"])]
    assert [part for part in parts if f"\n{part}\n" not in text] == []
    arguments = text.partition("Args:\n")[2].partition("\n\n")[0]
    for argument in inspect.signature(FUNCTIONS[name]).parameters:
        assert f"\n    {argument}: " in f"\n{arguments}", argument


@pytest.mark.long
def test_every_example_prints_what_it_says(own_models, eight_rounds, capsys):
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    names = {"explorer": explorer, "np": np}
    for name, function in FUNCTIONS.items():
        for example in doctest.DocTestFinder(recurse=False).find(function, name, globs=names):
            runner.run(example)
    results = runner.summarize(verbose=False)
    assert results.attempted > len(FUNCTIONS) - len(OF_ONES_OWN)
    assert results.failed == 0, capsys.readouterr().out
