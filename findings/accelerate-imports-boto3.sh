#!/usr/bin/env bash
# accelerate 1.15.0, bertviz 1.4.1, transformers 5.23.0, torch 2.13.0: with bertviz in the environment,
# importing BertModel imports the AWS SDK.
#
# bertviz needs boto3 for the downloads of its neuron view. transformers imports accelerate wherever it
# is installed, and peft installs it. `accelerate.utils.other` imports the questions of `accelerate
# config`, and those for SageMaker import boto3 if it is there. Nothing is asked and nothing is sent.
# `import accelerate` after torch takes 15 MB with boto3 and 5 MB without it.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0 accelerate==1.15.0 bertviz==1.4.1

cat > "$folder/check.py" <<'PYTHON'
import sys


def resident():
    """Return the resident megabytes of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


import torch  # noqa: E402

before = resident()
import accelerate  # noqa: E402

more = resident() - before
from transformers import BertModel  # noqa: E402

loaded = sorted({name.partition(".")[0] for name in sys.modules} & {"boto3", "botocore"})
print(f"accelerate {accelerate.__version__} takes {more:.0f} MB; with {BertModel.__name__}: {loaded}")
assert loaded == (["boto3", "botocore"] if sys.argv[1] == "with" else []), "changed"
PYTHON
"$folder/venv/bin/python" -W ignore "$folder/check.py" with 2>&1
"$folder/venv/bin/pip" uninstall -q -y boto3 botocore 2>&1
"$folder/venv/bin/python" -W ignore "$folder/check.py" without 2>&1
