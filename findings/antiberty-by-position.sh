#!/usr/bin/env bash
# antiberty 0.1.3 restores a residue of an antibody by its number in the sequence.
#
# Each residue of a heavy chain (120) and of a light chain (107) is masked in turn. Without anything
# before them, the real BERT restores 101 and 90. Behind a natural signal peptide it restores 30 and 22
# of the same residues, and behind 19 random letters about as few. With the same letters before them
# but the residues' old position numbers, it restores all but as many as before. A chain must
# therefore begin at its first residue, and a cut or extended sequence is read worse without a message.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0
"$folder/venv/bin/pip" install -q --no-deps antiberty==0.1.3

cat > "$folder/check.py" <<'PYTHON'
import pathlib
import random
import sysconfig

import torch
from transformers import BertConfig, BertForMaskedLM

folder = pathlib.Path(sysconfig.get_path("purelib")) / "antiberty/trained_models/AntiBERTy_md_smooth"
letters = "[PAD] [UNK] [CLS] [SEP] [MASK] A C D E F G H I K L M N P Q R S T V W Y".split()
row_of = {letter: row for row, letter in enumerate(letters)}
model = BertForMaskedLM(BertConfig.from_pretrained(folder)).eval()
weights = torch.load(folder / "pytorch_model.bin", weights_only=True, map_location="cpu")
missing, _ = model.load_state_dict(weights, strict=False)
assert not missing, missing

HEAVY = (
    "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAV"
    "YYCSRWGGDGFYAMDYWGQGTLVTVSS"
)
LIGHT = (
    "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYT"
    "TPPTFGQGTKVEIK"
)
random.seed(0)
LETTERS = "".join(random.choices(letters[5:], k=19))


def restored(chain, before="", old_numbers=False):
    ids = [row_of["[CLS]"], *(row_of[letter] for letter in before + chain), row_of["[SEP]"]]
    ids = torch.tensor([ids]).repeat(len(chain), 1)
    places = torch.arange(len(chain)) + 1 + len(before)
    ids[torch.arange(len(chain)), places] = row_of["[MASK]"]
    numbers = torch.arange(ids.shape[1])
    if old_numbers:
        numbers[1 : 1 + len(before)] = torch.arange(400, 400 + len(before))
        numbers[1 + len(before) :] -= len(before)
    with torch.no_grad():
        logits = model(ids, position_ids=numbers.expand(ids.shape)).logits
    best = logits[torch.arange(len(chain)), places].argmax(1)
    return sum(letters[row] == letter for row, letter in zip(best.tolist(), chain, strict=True))


for chain, signal in ((HEAVY, "MEFGLSWLFLVAILKGVQC"), (LIGHT, "MDMRVPAQLLGLLLLWLSGARC")):
    plain = restored(chain)
    found = [(restored(chain, before), restored(chain, before, True)) for before in (signal, LETTERS)]
    print(len(chain), "residues; restored:", plain, "; behind 19 to 22 letters, with old numbers:", *found)
    for behind, numbered in found:
        assert plain > 0.8 * len(chain) and behind < 0.4 * plain and numbered > 0.95 * plain, "changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py"
