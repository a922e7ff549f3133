#!/usr/bin/env bash
# transformers 5.23.0 rounds float32 weights to the type that config.json names.
#
# A folder has model.safetensors in float32 and a config that says "float16" or "bfloat16", as where the
# weights were saved again and the config was not. 5.23.0 loads the network in the config's type and
# reports it at most in the log at the level of info; 4.57.6 loads the same folder in float32. The three kinds of
# network behave alike. dtype="float32" in the call gives the file's own numbers.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
for version in 4.57.6 5.23.0; do
  python3 -m venv "$folder/$version"
  "$folder/$version/bin/pip" install -q torch==2.13.0 "transformers==$version"
done

cat > "$folder/check.py" <<'PYTHON'
import json
import pathlib
import sys

import transformers
from safetensors import safe_open
from transformers import AlbertConfig, AlbertModel, BertConfig, BertModel, DistilBertConfig, DistilBertModel

SIZE = {"vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
KINDS = (
    (BertModel, BertConfig(**SIZE, intermediate_size=64)),
    (AlbertModel, AlbertConfig(**SIZE, intermediate_size=64, embedding_size=16)),
    (DistilBertModel, DistilBertConfig(vocab_size=50, dim=32, n_layers=1, n_heads=2, hidden_dim=64)),
)
seen = set()
for network, config in KINDS:
    folder = pathlib.Path(sys.argv[1]) / network.__name__
    network(config).save_pretrained(folder)
    for name in ("float16", "bfloat16"):
        settings = json.loads((folder / "config.json").read_text())
        settings.pop("dtype", None)
        settings["torch_dtype"] = name
        (folder / "config.json").write_text(json.dumps(settings))
        with safe_open(folder / "model.safetensors", "pt") as file:
            stored = {file.get_tensor(key).dtype for key in file.keys()}
        assert [str(dtype) for dtype in stored] == ["torch.float32"]
        seen.add((name, str(network.from_pretrained(folder).dtype).removeprefix("torch.")))
print(transformers.__version__, "config, loaded:", *sorted(seen))
kept = transformers.__version__.startswith("4.")
wanted = {(name, "float32" if kept else name) for name in ("float16", "bfloat16")}
assert seen == wanted, "changed"
PYTHON
for version in 4.57.6 5.23.0; do
  "$folder/$version/bin/python" "$folder/check.py" "$folder/models-$version" 2>/dev/null
done
