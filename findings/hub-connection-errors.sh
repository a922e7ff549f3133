#!/usr/bin/env bash
# The error of a hub that does not answer belongs to another HTTP library in each major version of
# huggingface_hub: requests in 0.36.0, httpx in 1.33.0, httpx2 in 2.4.0.
#
# Code that catches httpx.HTTPError around huggingface_hub's functions catches nothing with 2.4.0. If
# another package has installed httpx, as gradio does, its import still succeeds.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT

cat > "$folder/check.py" <<'PYTHON'
import os
import sys

os.environ["HF_ENDPOINT"] = "http://127.0.0.1:9"

import httpx
from huggingface_hub import __version__, model_info

try:
    model_info("google-bert/bert-base-uncased")
except Exception as error:
    library = type(error).__module__.partition(".")[0]
    caught = isinstance(error, httpx.HTTPError)
    print(__version__, library, type(error).__name__, "is caught as httpx.HTTPError:", caught)
    assert library == sys.argv[1], "it has changed"
    assert caught == (library == "httpx"), "it has changed"
else:
    raise AssertionError("a hub answers at port 9")
PYTHON
python3 -m venv "$folder/venv"
while read -r version library; do
  "$folder/venv/bin/pip" install -q "huggingface_hub==$version" httpx==0.28.1
  "$folder/venv/bin/python" "$folder/check.py" "$library"
done <<'ROWS'
0.36.0 requests
1.33.0 httpx
2.4.0 httpx2
ROWS
