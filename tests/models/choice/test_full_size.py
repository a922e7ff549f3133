"""The two largest at full size, with random weights: right, within their memory, and how long.

``python -m pytest -m slow -s tests/models/choice/test_full_size.py`` prints the rows of
``BENCHMARKS.md``.
"""

import json
import subprocess
import sys
import textwrap

import pytest
import torch
from transformers import AddedToken, AlbertTokenizer, AutoModelForPreTraining, BertTokenizer

from explorer.models.architectures import random_network
from explorer.models.choice.family import all_specs
from explorer.models.choice.memory import running_bytes, weight_bytes
from tests.stand_in_hub import full_vocabulary
from tests.tiny_models import sentencepieces, wordpieces

RUN = textwrap.dedent("""
    import json, resource, sys, time
    folder, name, key = sys.argv[1:]
    from explorer.models.choice.own import add_models
    from explorer.models.choice.family import OWN
    from explorer.links.page_state import PageState
    from explorer.inference.runs import get_run
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    import torch, explorer.models.forward
    add_models([f"{key}={folder}"])
    spec, before = next(iter(OWN.values())), peak()
    texts = {"first": "The [MASK] sat.", "short": "The [MASK] sat on the mat.", "long": "cat " * 509 + "[MASK]"}
    seconds, found = {}, {}
    for which, text in texts.items():
        begun = time.perf_counter()
        run = get_run(spec, PageState(text=text))
        seconds[which] = time.perf_counter() - begun
        found[which] = [len(run.tokens), float(run.mask_logits[0, 7]), float(run.attention[-1, -1, 0, 1])]
    print(json.dumps({"seconds": seconds, "found": found, "bytes": peak() - before}))
""")


def save(spec, folder):
    network = random_network(spec)
    network.save_pretrained(folder)
    if spec.architecture.has_projection:
        pieces = [*sentencepieces()]
        pieces += [(f"▁unused{i}", -20.0) for i in range(spec.architecture.d_vocab - len(pieces))]
        mask = AddedToken("[MASK]", lstrip=True, rstrip=False, normalized=False, special=True)
        tokenizer = AlbertTokenizer(vocab=pieces, mask_token=mask)
    else:
        words = full_vocabulary(wordpieces(), spec.architecture.d_vocab)
        tokenizer = BertTokenizer(vocab={piece: i for i, piece in enumerate(words)})
    tokenizer.save_pretrained(folder)
    return tokenizer


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bert-large-uncased", "albert-xxlarge-v2"])
def test_it_runs_at_full_size(name, tmp_path):
    spec = all_specs()[name]
    folder = tmp_path / "full"
    tokenizer = save(spec, folder)
    command = [sys.executable, "-c", RUN, str(folder), name, spec.key]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    network = AutoModelForPreTraining.from_pretrained(folder, attn_implementation="eager").eval()
    inputs = tokenizer("The [MASK] sat on the mat.", return_tensors="pt")
    with torch.no_grad():
        out = network(**inputs, output_attentions=True)
    at = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0, 0]
    n_tokens, logit, weight = said["found"]["short"]
    assert n_tokens == inputs["input_ids"].shape[1]
    assert logit == pytest.approx(out.prediction_logits[0, at, 7].item(), abs=1e-4)
    assert weight == pytest.approx(out.attentions[-1][0, -1, 0, 1].item(), abs=1e-5)
    assert said["found"]["long"][0] == 512
    assert said["bytes"] <= 1.15 * (weight_bytes(spec) + running_bytes(spec))
    seconds = said["seconds"]
    print(  # noqa: T201
        f"\n{name}: loaded and first answer {seconds['first']:.1f} s, {n_tokens} tokens "
        f"{seconds['short']:.2f} s, 512 tokens {seconds['long']:.1f} s, "
        f"{said['bytes'] / 1e9:.2f} GB more than before ({weight_bytes(spec) / 1e9:.2f} GB of weights)"
    )
