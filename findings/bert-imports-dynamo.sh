#!/usr/bin/env bash
# transformers 5.23.0, torch 2.13.0, scipy 1.17.1: importing BertModel imports TorchDynamo and scipy.optimize.
#
# `import torch` leaves TorchDynamo out. Importing any model class of transformers brings it in, though
# nothing is compiled: by decorators of the cache for continuous batching and of FP8 products, and by the
# module that makes attention masks. TorchDynamo imports sympy and FSDP. The matcher of object detection,
# which the losses of all models import, brings in scipy.optimize. Of the 2,805 modules that are loaded
# then, 896 are of these packages. The peak memory of the process rises from 224 to 373 MB.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0 scipy==1.17.1

cat > "$folder/check.py" <<'PYTHON'
import resource
import sys

NAMES = ("torch._dynamo", "torch.distributed.fsdp", "torch.distributed.tensor", "sympy", "scipy")


def loaded(when):
    """Print what is imported; return how many modules of each package are."""
    counts = {n: sum(m == n or m.startswith(f"{n}.") for m in sys.modules) for n in NAMES}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"{when}: {len(sys.modules):,} modules, {peak:.0f} MB at most; {counts}")
    return counts


import torch  # noqa: E402

before = loaded("after import torch")
from transformers import BertModel  # noqa: E402

after = loaded("after from transformers import BertModel")
config = BertModel.config_class(
    hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, vocab_size=9
)
with torch.inference_mode():
    BertModel(config)(torch.tensor([[1, 2]]))
assert loaded("after a pass") == after, "the pass itself imports nothing of these"
assert not any(before.values()), "changed: torch imports them by itself"
assert all(after.values()) and "scipy.optimize" in sys.modules, "changed"
PYTHON
"$folder/venv/bin/python" -W ignore "$folder/check.py" 2>&1
