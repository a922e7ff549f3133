"""Predictions as HTML: the columns of bars, written as predictions/gaps.js writes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from explorer.analysis.digits import probability, round_top, side_by_side
from explorer.views.markup import Markup, card_of, el, join, listed, note, plain

SHOWN, SHOWN_ON_PHONE, MAX_SHOWN = 10, 3, 50
"""Words of a column unless the reader chose a number, and the most."""
MAX_TOGETHER = 4
"""Most masks whose columns are in sight together; of more, one is chosen."""
Model = Mapping[str, Any]


def predictions_html(data: Mapping[str, Any], chosen: int = 0, shown: int = 0) -> Markup:
    """Draw the JSON of ``predictions_canvas`` for a wide page and for a phone.

    Args:
        data: The parsed JSON.
        chosen: Mask in sight where there are many.
        shown: Words of a column; 0: as many as is usual at each width.
    """
    models = {key: model for key, model in data["models"].items() if "card" not in model}
    if not data["masks"] or not models:
        return el("div", *_cards(data), class_="columns")
    n_masks = len(data["masks"])
    masks = range(n_masks) if n_masks <= MAX_TOGETHER else [min(chosen, n_masks - 1)]
    lengths = {"": shown} if shown else {"wide": SHOWN, "narrow": SHOWN_ON_PHONE}
    drawn = [
        el(
            "div",
            *(Gap.of(data, models, mask, min(MAX_SHOWN, length)).draw() for mask in masks),
            class_=f"pr-gaps {width}{' short' * (length <= SHOWN_ON_PHONE)}",
        )
        for width, length in lengths.items()
    ]
    tiles = _tiles(data, models, masks[0]) if n_masks > MAX_TOGETHER else None
    room = el("div", "\u00a0", class_="pr-control", aria_hidden="true")
    foot = el("div", note(data["texts"]["rule"]), room, class_="pr-foot")
    return join(tiles, *drawn, foot)


def _cards(data: Mapping[str, Any]) -> list[Markup]:
    missing = [(key, model) for key, model in data["models"].items() if "card" in model]
    return [card_of({"key": key, **model}, "card") for key, model in missing]


def _tiles(data: Mapping[str, Any], models: Mapping[str, Model], chosen: int) -> Markup:
    """Draw a numbered tile for each of many masks, with the word that each model says."""
    return el(
        "div",
        *(_tile(models, mask, mask == chosen) for mask in range(len(data["masks"]))),
        class_="pr-masks",
        aria_label=data["texts"]["masks"],
        role="group",
    )


def _tile(models: Mapping[str, Model], mask: int, is_chosen: bool) -> Markup:
    words = {key: model["masks"][mask]["words"][0] for key, model in models.items()}
    says = [el("span", word, class_="pr-says", data_model=key) for key, word in words.items()]
    if len(set(words.values())) == 1:
        says = [el("span", *set(words.values()), class_="pr-says all")]
    number = el("span", str(mask + 1), class_="pr-number")
    return el("span", number, *says, class_="pr-mask", aria_current=is_chosen)


@dataclass(frozen=True, slots=True)
class Gap:
    """One mask: what each model lists for it, and what their lists have in common."""

    data: Mapping[str, Any]
    mask: int
    models: Mapping[str, Model]
    """Models that have an answer."""
    lists: Mapping[str, Sequence[str]]
    in_all: Sequence[str]
    top: float
    """Probability at which the bars end."""
    first: Mapping[str, str]
    """Each model's largest probability, as it is printed."""

    @classmethod
    def of(cls, data: Mapping[str, Any], models: Mapping[str, Model], mask: int, k: int) -> "Gap":
        """Return one mask with lists of ``k`` words."""
        lists = {key: model["masks"][mask]["words"][:k] for key, model in models.items()}
        words = dict.fromkeys(chain(*lists.values())) if len(models) > 1 else ()
        largest = [model["masks"][mask]["p"][0] for model in models.values()]
        return cls(
            data,
            mask,
            models,
            lists,
            [word for word in words if all(word in listed for listed in lists.values())],
            round_top(max(largest)),
            dict(zip(models, side_by_side(largest), strict=True)),
        )

    def draw(self) -> Markup:
        """Draw the words around the mask, the models' columns, and what the bars mean."""
        columns = [
            card_of({"key": key, **model}, "card") if "card" in model else self._column(key)
            for key, model in self.data["models"].items()
        ]
        return el(
            "div",
            self._context() if len(self.data["masks"]) > 1 else None,
            el("div", *columns, class_="columns"),
            el("p", self._said(), class_="note scale"),
            class_="pr-gap",
        )

    def _context(self) -> Markup:
        texts, place = self.data["texts"], self.data["masks"][self.mask]
        number = texts["mask"].format(i=self.mask + 1, n=len(self.data["masks"]))
        mark = el("mark", "\u2009?\u2009")
        return el(
            "p",
            el("strong", number, " "),
            place["before"],
            mark,
            place["after"],
            class_="pr-context",
            translate="no",
        )

    def _said(self) -> str:
        texts, scale = self.data["texts"], self.data["texts"]["scale"].format(max=f"{self.top:g}")
        if len(self.models) < 2:
            return scale
        words = ", ".join(f"“{word}”" for word in self.in_all)
        shared = texts["shared" if self.in_all else "shared_none"]
        n = len(self.models)
        lists = texts["both_lists" if n == 2 else "all_lists"].format(n=n)
        return f"{shared.format(lists=lists, words=words)} {scale}"

    def _column(self, key: str) -> Markup:
        model, mask = self.models[key], self.models[key]["masks"][self.mask]
        head = el(
            "header",
            el("h3", model["label"], class_="model-name", data_model=key),
            el(
                "p",
                el("span", mask["words"][0], class_="pr-first", translate="no"),
                el("span", self.first[key], class_="pr-first-p"),
                class_="pr-answer",
            ),
            self._own_word(model, mask),
        )
        rows = [self._row(key, mask, rank) for rank in range(len(self.lists[key]))]
        bars = el("ol", *rows, class_="pr-list", aria_label=model["label"])
        return el("section", head, bars, self._rest(key, mask), class_="pr-column", data_model=key)

    def _own_word(self, model: Model, mask: Mapping[str, Any]) -> Markup | None:
        """Return what the model says of the word that the reader hid here."""
        own, texts = mask.get("yours"), self.data["texts"]
        if not own:
            return None
        word, size = f"“{self.data['masks'][self.mask]['hidden']}”", f"{model['vocabulary']:,}"
        if own["pieces"] == 1:
            rank, p = f"{own['rank']:,}", probability(own["p"])
            sentence = texts["yours"].format(word=word, p=p, rank=rank, size=size)
        else:
            text = texts["yours_pieces" if own["pieces"] else "yours_unknown"]
            sentence = text.format(word=word, n=own["pieces"])
        return el("p", sentence, class_="pr-yours")

    def _row(self, key: str, mask: Mapping[str, Any], rank: int) -> Markup:
        word, p = mask["words"][rank], mask["p"][rank]
        others = [other for other in self.models if other != key and word in self.lists[other]]
        labels = plain(listed([self.models[other]["label"] for other in others]))
        texts, is_own = self.data["texts"], (mask.get("yours") or {}).get("row") == rank
        also = texts["also"].format(names=labels) if others else texts["only"]
        dots = [] if word in self.in_all else [el("i", data_model=other) for other in others]
        kind = f"pr-row{' shared' * (word in self.in_all)}{' yours' * is_own}"
        return el(
            "li",
            el("span", word, class_="pr-word", translate="no"),
            el("span", *dots, class_="pr-dots", aria_hidden="true"),
            el(
                "span",
                el("span", class_="pr-bar", style=f"--share:{min(1.0, p / self.top):.6g}"),
                class_="pr-track",
            ),
            el("span", probability(p), class_="pr-p"),
            el("span", f"{also}, {texts['yours_row']}" if is_own else also, class_="sr"),
            class_=kind,
        )

    def _rest(self, key: str, mask: Mapping[str, Any]) -> Markup:
        """Return what is outside the list, and among how many words the model hesitates."""
        texts, k = self.data["texts"], len(self.lists[key])
        rest = max(0.0, 1 - sum(mask["p"][:k]))
        n, left = mask["choices"], texts["rest_one"] if k == 1 else texts["rest"].format(k=k)
        spread = texts["spread"].format(n=f"{n:.1f}" if n < 10 else f"{n:,.0f}")
        strip = el(
            "span", el("i"), class_="pr-mass", aria_hidden="true", style=f"--rest:{rest:.6g}"
        )
        sentence = f"{probability(rest)} {left}; "
        return el("p", strip, sentence, el("span", spread, class_="pr-spread"), class_="pr-rest")
