"""A file of each public format, with its published header and quirks and words of our own.

``python -m tests.lists.formats`` writes the table of docs/lists.md by reading them.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.lists.read import read_table
from explorer.lists.roles import BadRows
from explorer.lists.rows import text_list
from explorer.lists.views.strings import read_as

DOCUMENT = Path(__file__).parents[2] / "docs" / "lists.md"
BEGIN, END = "<!-- formats: python -m tests.lists.formats -->\n", "<!-- end -->\n"
FIRST = (
    "The baker sold every loaf before noon.",
    "A grey heron waited at the pond.",
    "My neighbour paints boats in winter.",
    "The train to the coast was late again.",
    "Nobody had watered the roses all week.",
    "She folded the map and walked on.",
    "The old clock struck thirteen times.",
    "Two goats were asleep on the roof.",
    "He repaired the fence with string.",
    "The choir practised in an empty barn.",
)
SECOND = (
    "All the bread was gone by midday.",
    "A bird stood near the water.",
    "My neighbour never painted anything.",
    "The train arrived on time.",
    "The roses had been dry for days.",
    "She kept walking.",
    "The clock was broken.",
    "There were animals on the roof.",
    "The fence was never touched.",
    "The barn was full of people.",
)
N = len(FIRST)
BINARY = tuple(str(i % 2) for i in range(N))
THREE = tuple(("entailment", "neutral", "contradiction")[i % 3] for i in range(N))


@dataclass(frozen=True)
class Format:
    """A public format, its file, and how it has to be read."""

    source: str
    name: str
    content: str | bytes
    kind: str
    columns: dict[str, str]
    """Column of each role; empty where the file is refused."""
    first: str
    """The first row's text, or what the refusal says."""
    label: str = ""
    n_rows: int = N
    other: str = ""


def table(header: Sequence[str], rows: Sequence[Sequence[str]], sign: str = "\t") -> str:
    lines = [sign.join(row) for row in rows]
    return "\n".join([sign.join(header), *lines] if header else lines) + "\n"


def rows(make: Callable[[int], Sequence[str]]) -> list[Sequence[str]]:
    return [make(i) for i in range(N)]


def json_lines(make: Callable[[int], object]) -> str:
    return "".join(json.dumps(make(i)) + "\n" for i in range(N))


def quoted(text: str) -> str:
    return f'"{text}"'


def stereoset(i: int, context: str) -> dict[str, object]:
    kinds = ("stereotype", FIRST[i]), ("unrelated", "Bread sings."), ("anti-stereotype", SECOND[i])
    sentences = [{"sentence": text, "id": "x", "labels": [], "gold_label": k} for k, text in kinds]
    about = {"id": f"{i}", "target": "cook", "bias_type": "profession", "context": context}
    return about | {"sentences": sentences}


def pair(names: tuple[str, str, str]) -> dict[str, str]:
    return dict(zip(("text", "second", "label"), names, strict=True))


BOTH = f"{FIRST[0]} [SEP] {SECOND[0]}"
TREE = "( The baker ( sold ) )"
MNLI = (
    *("index", "promptID", "pairID", "genre", "sentence1_binary_parse", "sentence2_binary_parse"),
    *("sentence1_parse", "sentence2_parse", "sentence1", "sentence2", "label1", "gold_label"),
)
HANS = (
    *("gold_label", "sentence1_binary_parse", "sentence2_binary_parse", "sentence1_parse"),
    *("sentence2_parse", "sentence1", "sentence2", "pairID", "heuristic", "subcase", "template"),
)
STS = (
    *("index", "genre", "filename", "year", "old_index", "source1", "source2"),
    *("sentence1", "sentence2", "score"),
)
TWEETS = (
    *("tweet_id", "airline_sentiment", "airline_sentiment_confidence", "negativereason"),
    *("airline", "name", "retweet_count", "text", "tweet_created", "user_timezone"),
)
BLIMP = {"field": "syntax", "linguistics_term": "agreement", "UID": "x", "pairID": "0"}
MASKED = tuple(text.replace(" the ", " [MASK] ", 1).replace("The ", "[MASK] ", 1) for text in FIRST)
GAPPED = tuple(f"{i}. The cook put the [MASK] on the table." for i in range(N))
FORMATS = (
    Format(
        "CoLA",
        "in_domain_train.tsv",
        table((), rows(lambda i: (f"gj0{i}", BINARY[i], "*" * (i % 2), FIRST[i]))),
        "labelled",
        {"text": "column 4", "label": "column 2"},
        FIRST[0],
        "0",
    ),
    Format(
        "SST-2",
        "train.tsv",
        table(("sentence", "label"), rows(lambda i: (f"{FIRST[i].lower()} ", BINARY[i]))),
        "labelled",
        {"text": "sentence", "label": "label"},
        FIRST[0].lower(),
        "0",
    ),
    Format(
        "MRPC",
        "msr_paraphrase_train.txt",
        "\ufeff"
        + table(
            ("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String"),
            rows(lambda i: (BINARY[i], f"{70 + i}", f"{90 + i}", f'"{FIRST[i]}', SECOND[i])),
        ),
        "labelled",
        pair(("#1 String", "#2 String", "Quality")),
        f'"{BOTH}',
        "0",
    ),
    Format(
        "QQP",
        "train.tsv",
        table(
            ("id", "qid1", "qid2", "question1", "question2", "is_duplicate"),
            rows(lambda i: (f"{i}", f"{2 * i}", f"{2 * i + 1}", FIRST[i], SECOND[i], BINARY[i])),
        ),
        "labelled",
        pair(("question1", "question2", "is_duplicate")),
        BOTH,
        "0",
    ),
    Format(
        "MNLI, GLUE's file",
        "dev_matched.tsv",
        table(
            MNLI,
            rows(
                lambda i: (
                    *(f"{i}", f"{i}", f"{i}n", "fiction", TREE, TREE, TREE, TREE),
                    *(FIRST[i], SECOND[i], "neutral", THREE[i]),
                )
            ),
        ),
        "labelled",
        pair(("sentence1", "sentence2", "gold_label")),
        BOTH,
        "entailment",
    ),
    Format(
        "MNLI and SNLI, the hub's form",
        "nli.jsonl",
        json_lines(lambda i: {"premise": FIRST[i], "hypothesis": SECOND[i], "label": i % 3}),
        "labelled",
        pair(("premise", "hypothesis", "label")),
        BOTH,
        "0",
    ),
    Format(
        "SNLI, its own file",
        "snli_1.0_dev.jsonl",
        json_lines(
            lambda i: {
                "annotator_labels": ["neutral", "neutral"],
                "captionID": f"{i}",
                "gold_label": THREE[i] if i else "-",
                "pairID": f"{i}r",
                "sentence1": FIRST[i],
                "sentence1_parse": TREE,
                "sentence2": SECOND[i],
                "sentence2_parse": TREE,
            }
        ),
        "labelled",
        pair(("sentence1", "sentence2", "gold_label")),
        f"{FIRST[1]} [SEP] {SECOND[1]}",
        "neutral",
        N - 1,
    ),
    Format(
        "QNLI",
        "train.tsv",
        table(
            ("index", "question", "sentence", "label"),
            rows(lambda i: (f"{i}", FIRST[i], SECOND[i], ("entailment", "not_entailment")[i % 2])),
        ),
        "labelled",
        pair(("question", "sentence", "label")),
        BOTH,
        "entailment",
    ),
    Format(
        "RTE",
        "train.tsv",
        table(
            ("index", "sentence1", "sentence2", "label"),
            rows(lambda i: (f"{i}", FIRST[i], SECOND[i], ("entailment", "not_entailment")[i % 2])),
        ),
        "labelled",
        pair(("sentence1", "sentence2", "label")),
        BOTH,
        "entailment",
    ),
    Format(
        "BoolQ",
        "train.jsonl",
        json_lines(
            lambda i: {
                "question": FIRST[i],
                "title": "Bread",
                "answer": i % 2 == 0,
                "passage": SECOND[i],
            }
        ),
        "labelled",
        pair(("question", "passage", "answer")),
        BOTH,
        "true",
    ),
    Format(
        "SICK",
        "SICK_train.txt",
        table(
            ("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment"),
            rows(lambda i: (f"{i}", FIRST[i], SECOND[i], f"{i / 2}", THREE[i].upper())),
        ),
        "labelled",
        pair(("sentence_A", "sentence_B", "entailment_judgment")),
        BOTH,
        "ENTAILMENT",
    ),
    Format(
        "STS-B",
        "sts-dev.tsv",
        table(
            STS,
            rows(
                lambda i: (
                    *(f"{i}", "main-news", "headlines", "2013", f"{i}", "none", "none"),
                    *(FIRST[i], SECOND[i], f"{i / 2:.3f}"),
                )
            ),
        ),
        "scored",
        {"text": "sentence1", "second": "sentence2", "score": "score"},
        BOTH,
    ),
    Format(
        "STS-B, the hub's form",
        "stsb.jsonl",
        json_lines(lambda i: {"sentence1": FIRST[i], "sentence2": SECOND[i], "label": i / 2}),
        "scored",
        {"text": "sentence1", "second": "sentence2", "score": "label"},
        BOTH,
    ),
    Format(
        "HANS",
        "heuristics_evaluation_set.txt",
        table(
            HANS,
            rows(
                lambda i: (
                    *(("entailment", "non-entailment")[i % 2], TREE, TREE, TREE, TREE),
                    *(FIRST[i], SECOND[i], f"ex{i}", "lexical_overlap", "ln_subject", "temp1"),
                )
            ),
        ),
        "labelled",
        pair(("sentence1", "sentence2", "gold_label")),
        BOTH,
        "entailment",
    ),
    Format(
        "BLiMP",
        "agreement.jsonl",
        json_lines(lambda i: BLIMP | {"sentence_good": FIRST[i], "sentence_bad": SECOND[i]}),
        "pairs",
        {"good": "sentence_good", "bad": "sentence_bad", "group": "field"},
        FIRST[0],
        other=SECOND[0],
    ),
    Format(
        "CrowS-Pairs",
        "crows_pairs_anonymized.csv",
        table(
            ("", "sent_more", "sent_less", "stereo_antistereo", "bias_type", "annotations"),
            rows(
                lambda i: (f"{i}", FIRST[i], SECOND[i], "stereo", "age", "\"[['age'], ['age']]\"")
            ),
            ",",
        ),
        "pairs",
        {
            "good": "sent_more",
            "bad": "sent_less",
            "group": "bias_type",
            "direction": "stereo_antistereo",
        },
        FIRST[0],
        other=SECOND[0],
    ),
    Format(
        "StereoSet",
        "dev.json",
        json.dumps(
            {
                "version": "1.0",
                "data": {
                    "intersentence": [stereoset(i, f"Cook {i} came in.") for i in range(N // 2)],
                    "intrasentence": [stereoset(i, "The cook was BLANK.") for i in range(N // 2)],
                },
            },
            indent=2,
        ),
        "pairs",
        {
            "good": "stereotype",
            "bad": "anti-stereotype",
            "group": "bias_type",
            "unrelated": "unrelated",
            "term": "term",
            "context": "context with BLANK",
        },
        f"Cook 0 came in. {FIRST[0]}",
        other=f"Cook 0 came in. {SECOND[0]}",
    ),
    Format(
        "Winogender",
        "all_sentences.tsv",
        table(("sentid", "sentence"), rows(lambda i: (f"baker.{i}.male.txt", FIRST[i]))),
        "plain",
        {"text": "sentence"},
        FIRST[0],
    ),
    Format(
        "LAMA, SQuAD and ConceptNet",
        "test.jsonl",
        json_lines(
            lambda i: {
                "masked_sentences": [GAPPED[i]],
                "obj_label": "pot",
                "id": f"{i}_0",
                "sub_label": "Squad",
            }
        ),
        "masked",
        {"text": "masked_sentences", "answer": "obj_label"},
        GAPPED[0],
    ),
    Format(
        "LAMA, Google-RE",
        "place_of_birth_test.jsonl",
        json_lines(
            lambda i: {
                "pred": "/people/person/place_of_birth",
                "sub_label": "Ada Cook",
                "obj_label": "pot",
                "evidences": [
                    {"url": "x", "snippet": FIRST[i], "considered_sentences": [FIRST[i]]}
                ],
                "judgments": [{"rater": "1", "judgment": "yes"}],
                "masked_sentences": [GAPPED[i]],
            }
        ),
        "masked",
        {"text": "masked_sentences", "answer": "obj_label"},
        GAPPED[0],
    ),
    Format(
        "LAMA, T-REx",
        "P19.jsonl",
        json_lines(
            lambda i: {
                "uuid": f"{i}",
                "obj_uri": "Q1",
                "obj_label": "pot",
                "sub_label": "cook",
                "predicate_id": "P19",
                "evidences": [
                    {"sub_surface": "cook", "obj_surface": "pot", "masked_sentence": GAPPED[i]},
                    {"sub_surface": "cook", "obj_surface": "pot", "masked_sentence": FIRST[i]},
                ],
            }
        ),
        "masked",
        {"text": "masked_sentence", "answer": "obj_label"},
        GAPPED[0],
    ),
    Format(
        "NEG-136",
        "NEG-136-SIMP.tsv",
        table(
            ("item", "context_aff", "context_neg", "target_aff", "target_neg"),
            rows(lambda i: (f"{i}", f"A heron {i} is a", f"A heron {i} is not a", "bird", "fish")),
        ),
        "masked",
        {"text": "context", "answer": "target", "group": "group"},
        "A heron 0 is a [MASK].",
        n_rows=2 * N,
    ),
    Format(
        "ROLE-88",
        "ROLE-88.tsv",
        table(
            ("item", "context", "expected"),
            rows(lambda i: (f"{i}", f"The cook knew which guest {i} had", "served|fed|met")),
        ),
        "masked",
        {"text": "context", "answer": "expected"},
        "The cook knew which guest 0 had [MASK].",
    ),
    Format(
        "CPRAG-34",
        "CPRAG-34.tsv",
        table(
            ("item", "context", "expected", "within_category", "between_category"),
            rows(lambda i: (f"{i}", f"It rained on day {i}. She took her", "coat", "hat", "pot")),
        ),
        "masked",
        {"text": "context", "answer": "expected"},
        "It rained on day 0. She took her [MASK].",
    ),
    Format(
        "WinoBias",
        "pro_stereotyped_type1.txt.test",
        "".join(
            f"{i + 1} [The cook] thanked guest {i} because [{('she', 'he')[i % 2]}] was late.\n"
            for i in range(N)
        ),
        "masked",
        {"text": "text", "answer": "answer"},
        "The cook thanked guest 0 because [MASK] was late.",
    ),
    Format(
        "SMS spam",
        "spam.csv",
        table(
            ("v1", "v2", "", "", ""),
            rows(lambda i: (("ham", "spam")[i % 2], f"{FIRST[i]} Cost: £5", "", "", "")),
            ",",
        ).encode("latin-1"),
        "labelled",
        {"text": "v2", "label": "v1"},
        f"{FIRST[0]} Cost: £5",
        "ham",
    ),
    Format(
        "Airline tweets",
        "Tweets.csv",
        table(
            TWEETS,
            rows(
                lambda i: (
                    *(f"57{i}", ("negative", "neutral")[i % 2], "1.0", "", "Virgin America"),
                    *("anna", "0", f'"@air, {FIRST[i]}"', "2015-02-24", "Eastern"),
                )
            ),
            ",",
        ),
        "labelled",
        {"text": "text", "label": "airline_sentiment"},
        f"@air, {FIRST[0]}",
        "negative",
    ),
    Format(
        "Financial PhraseBank",
        "Sentences_AllAgree.txt",
        "".join(f"{FIRST[i]}@{('positive', 'neutral')[i % 2]}\n" for i in range(N)).encode(
            "latin-1"
        ),
        "labelled",
        {"text": "text", "label": "label"},
        FIRST[0],
        "positive",
    ),
    Format(
        "AG News",
        "train.csv",
        "".join(f'"{1 + i % 4}","Title {i}","{FIRST[i]} {SECOND[i]}"\n' for i in range(N)),
        "labelled",
        {"text": "column 3", "label": "column 1"},
        f"{FIRST[0]} {SECOND[0]}",
        "1",
    ),
    Format(
        "IMDB reviews",
        "IMDB Dataset.csv",
        table(
            ("review", "sentiment"),
            rows(
                lambda i: (
                    f'"{FIRST[i]}<br />It was ""fine"", no?"',
                    ("positive", "negative")[i % 2],
                )
            ),
            ",",
        ),
        "labelled",
        {"text": "review", "label": "sentiment"},
        f'{FIRST[0]}<br />It was "fine", no?',
        "positive",
    ),
    Format(
        "Film reviews with escaped quotation marks",
        "reviews.csv",
        table(
            ("text", "label"),
            rows(lambda i: (f'"He said \\"dull\\", and left. {FIRST[i]}"', ("neg", "pos")[i % 2])),
            ",",
        ),
        "labelled",
        {"text": "text", "label": "label"},
        f'He said "dull", and left. {FIRST[0]}',
        "neg",
    ),
    Format(
        "TREC",
        "train_5500.label",
        "".join(f"{('LOC:city', 'NUM:count')[i % 2]} {FIRST[i]}\n" for i in range(N)),
        "labelled",
        {"text": "text", "label": "label"},
        FIRST[0],
        "LOC",
    ),
    Format(
        "fastText",
        "cooking.txt",
        "".join(f"__label__{('bread', 'birds')[i % 2]} {FIRST[i]}\n" for i in range(N)),
        "labelled",
        {"text": "text", "label": "label"},
        FIRST[0],
        "bread",
    ),
    Format(
        "fastText, several labels",
        "tags.txt",
        "".join(f"__label__bread {'__label__birds ' * (i % 2)}{FIRST[i]}\n" for i in range(N)),
        "multilabel",
        {"text": "text", "label": "label"},
        FIRST[0],
        "bread",
    ),
    Format(
        "GoEmotions, the hub's form",
        "emotions.jsonl",
        json_lines(lambda i: {"text": FIRST[i], "labels": [2, 27][: 2 - i % 3], "id": f"ee{i}"}),
        "multilabel",
        {"text": "text", "label": "labels"},
        FIRST[0],
        "2|27",
    ),
    Format(
        "Several labels in a cell",
        "tags.csv",
        table(
            ("text", "tags"),
            rows(lambda i: (FIRST[i], ("food|birds", "food", "birds")[i % 3])),
            ",",
        ),
        "multilabel",
        {"text": "text", "label": "tags"},
        FIRST[0],
        "food|birds",
    ),
    Format(
        "CoNLL-2003",
        "eng.testa",
        "-DOCSTART- -X- -X- O\n\n"
        + "\n".join(
            "".join(
                f"{w} NN I-NP {('O', 'B-PER')[i % 3 == 0]}\n" for i, w in enumerate(text.split())
            )
            for text in FIRST
        ),
        "tagged",
        {"tokens": "tokens", "tags": "tags"},
        FIRST[0],
    ),
    Format(
        "CoNLL-2003, the hub's form with names",
        "conll.jsonl",
        json_lines(
            lambda i: {
                "id": str(i),
                "tokens": FIRST[i].split(),
                "ner_tags": ["B-PER", *["O"] * (len(FIRST[i].split()) - 1)],
            }
        ),
        "tagged",
        {"tokens": "tokens", "tags": "ner_tags"},
        FIRST[0],
    ),
    Format(
        "Excel, German, as CSV",
        "Mappe1.csv",
        "sep=;\r\ntext;label\r\n"
        + "".join(f'"Süß, sagte er; {FIRST[i]}";{("ja", "nein")[i % 2]}\r\n' for i in range(N)),
        "labelled",
        {"text": "text", "label": "label"},
        f"Süß, sagte er; {FIRST[0]}",
        "ja",
    ),
    Format(
        "Excel, as Unicode text",
        "Book1.txt",
        table(("text", "label"), rows(lambda i: (FIRST[i], BINARY[i]))).encode("utf-16"),
        "labelled",
        {"text": "text", "label": "label"},
        FIRST[0],
        "0",
    ),
    Format(
        'SQuAD-like {"data": [...]} over many lines',
        "rows.json",
        json.dumps(
            {"version": "1", "data": [{"text": FIRST[i], "label": i % 2} for i in range(N)]},
            indent=1,
        ),
        "labelled",
        {"text": "text", "label": "label"},
        FIRST[0],
        "0",
    ),
    Format(
        "pandas to_json, by column",
        "frame.json",
        json.dumps(
            {
                "text": {str(i): FIRST[i] for i in range(N)},
                "label": {str(i): i % 2 for i in range(N)},
            }
        ),
        "labelled",
        {"text": "text", "label": "label"},
        FIRST[0],
        "0",
    ),
    Format(
        "Yelp and Amazon reviews, polarity",
        "train.csv",
        table((), rows(lambda i: (f'"{1 + i % 2}"', quoted(f'{FIRST[i]} ""Fine"", no?'))), ","),
        "labelled",
        {"text": "column 2", "label": "column 1"},
        f'{FIRST[0]} "Fine", no?',
        "1",
    ),
    Format(
        "Yelp, JSON",
        "review.json",
        json_lines(
            lambda i: (
                {"review_id": f"a{i}", "stars": 1 + i % 5, "useful": i % 3, "funny": i % 2}
                | {"cool": 0, "text": FIRST[i], "date": "2018-07-07 22:09:11"}
            )
        ),
        "labelled",
        {"text": "text", "label": "stars"},
        FIRST[0],
        "1",
    ),
    Format(
        "Amazon fine food",
        "Reviews.csv",
        table(
            ("Id", "ProfileName", "HelpfulnessNumerator", "Score", "Time", "Summary", "Text"),
            rows(
                lambda i: (f"{i}", "ann", BINARY[i], f"{1 + i % 5}", "1303862400", "Good", FIRST[i])
            ),
            ",",
        ),
        "labelled",
        {"text": "Text", "label": "Score"},
        FIRST[0],
        "1",
    ),
    Format(
        "Disaster tweets",
        "train.csv",
        table(
            ("id", "keyword", "location", "text", "target"),
            rows(lambda i: (f"{i}", "fire", "Leeds", FIRST[i], BINARY[i])),
            ",",
        ),
        "labelled",
        {"text": "text", "label": "target"},
        FIRST[0],
        "0",
    ),
    Format(
        "Sentiment140",
        "training.1600000.csv",
        table(
            (),
            rows(
                lambda i: (
                    *(f'"{4 * (i % 2)}"', f'"14678{i}"', f'"Mon Apr 06 22:19:{i}5 PDT 2009"'),
                    *('"NO_QUERY"', f'"user{i}"', quoted(f"@you é {FIRST[i]}")),
                )
            ),
            ",",
        ).encode("latin-1"),
        "labelled",
        {"text": "column 6", "label": "column 1"},
        f"@you é {FIRST[0]}",
        "0",
    ),
    Format(
        "Emotion",
        "train.txt",
        "".join(f"{FIRST[i].lower()};{('joy', 'sadness')[i % 2]}\n" for i in range(N)),
        "labelled",
        {"text": "text", "label": "label"},
        FIRST[0].lower(),
        "joy",
    ),
    Format(
        "GoEmotions, its own file",
        "train.tsv",
        table((), rows(lambda i: (FIRST[i], ("27", "2,27", "2")[i % 3], f"eeb{i}"))),
        "multilabel",
        {"text": "column 1", "label": "column 2"},
        FIRST[0],
        "27",
    ),
    Format(
        "Jigsaw toxic comments",
        "train.csv",
        table(
            ("id", "comment_text", "toxic", "severe_toxic", "obscene", "identity_hate"),
            rows(lambda i: (f"{i}a", FIRST[i], "1", "0", BINARY[i], "0")),
            ",",
        ),
        "multilabel",
        {"text": "comment_text", "label": "labels"},
        FIRST[0],
        "toxic",
    ),
    Format(
        "Stanford Sentiment Treebank, trees",
        "train.txt",
        "".join(f"({i % 5} (2 The) ({i % 3} (2 rock) (2 -LRB-)))\n" for i in range(N)),
        "labelled",
        {"text": "text", "label": "label"},
        "The rock (",
        "0",
    ),
    Format(
        "MR, CR and Subj, as for Kim's network",
        "rt-polarity.all",
        "".join(f"{i % 2} {FIRST[i].lower()}\n" for i in range(N)),
        "labelled",
        {"text": "text", "label": "label"},
        FIRST[0].lower(),
        "0",
    ),
    Format(
        "News categories",
        "News_Category_Dataset_v3.json",
        json_lines(
            lambda i: (
                {"link": f"https://news.example/{'a-long-address-' * 9}{i}"}
                | {"headline": FIRST[i], "category": ("ARTS", "FOOD")[i % 2]}
                | {"short_description": SECOND[i], "date": "2022-09-23"}
            )
        ),
        "labelled",
        {"text": "headline", "label": "category"},
        FIRST[0],
        "ARTS",
    ),
    Format(
        "ANLI, its own file",
        "dev.jsonl",
        json_lines(
            lambda i: (
                {"uid": f"{i}", "context": FIRST[i], "hypothesis": SECOND[i]}
                | {"label": "enc"[i % 3], "model_label": "e", "reason": "", "tag": ""}
            )
        ),
        "labelled",
        pair(("context", "hypothesis", "label")),
        BOTH,
        "e",
    ),
    Format(
        "SciTail",
        "scitail_1.0_train.tsv",
        table((), rows(lambda i: (FIRST[i], SECOND[i], ("entails", "neutral")[i % 2]))),
        "labelled",
        pair(("column 1", "column 2", "column 3")),
        BOTH,
        "entails",
    ),
    Format(
        "FEVER",
        "train.jsonl",
        json_lines(
            lambda i: (
                {"id": i, "label": ("SUPPORTS", "REFUTES")[i % 2], "claim": FIRST[i]}
                | {"evidence": [[[1, 2, "Bread", 0]]]}
            )
        ),
        "labelled",
        {"text": "claim", "label": "label"},
        FIRST[0],
        "SUPPORTS",
    ),
    Format(
        "Pairs as in BERT's run_classifier",
        "train.tsv",
        table(
            ("guid", "text_a", "text_b", "label"),
            rows(lambda i: (f"{i}", FIRST[i], SECOND[i], BINARY[i])),
        ),
        "labelled",
        pair(("text_a", "text_b", "label")),
        BOTH,
        "0",
    ),
    Format(
        "STS benchmark, its own file",
        "sts-dev.csv",
        table(
            (),
            rows(
                lambda i: (
                    *("main-captions", "MSRvid", "2012test", f"{i:04}", f"{i / 2:.3f}"),
                    *(FIRST[i], SECOND[i]),
                )
            ),
        ),
        "scored",
        {"text": "column 6", "second": "column 7", "score": "column 5"},
        BOTH,
    ),
    Format(
        "COPA",
        "val.jsonl",
        json_lines(
            lambda i: (
                {"premise": FIRST[i], "choice1": SECOND[i], "choice2": "It was dark."}
                | {"question": "cause", "label": i % 2, "idx": i}
            )
        ),
        "pairs",
        {"good": "good", "bad": "bad"},
        BOTH.replace(" [SEP]", ""),
        other=f"{FIRST[0]} It was dark.",
    ),
    Format(
        "WinoGrande",
        "dev.jsonl",
        json_lines(
            lambda i: (
                {"qID": f"{i}", "sentence": f"The pot was not in box {i}: the _ was too big."}
                | {"option1": "pot", "option2": "box", "answer": "12"[i % 2]}
            )
        ),
        "pairs",
        {"good": "good", "bad": "bad"},
        "The pot was not in box 0: the pot was too big.",
        other="The pot was not in box 0: the box was too big.",
    ),
    Format(
        "HellaSwag",
        "hellaswag_val.jsonl",
        json_lines(
            lambda i: {"ctx": FIRST[i], "label": i % 4, "endings": [f"She {v}." for v in "abcd"]}
        ),
        "",
        {},
        "4 choices, of which one is right",
    ),
    Format(
        "ParaRel, its patterns",
        "P19.jsonl",
        json_lines(lambda i: {"pattern": f"[X] baked bread {i} in [Y].", "tense": "past"}),
        "",
        {},
        "It is a template: write words in place of [X].",
    ),
    Format(
        "A form of a survey",
        "Responses.csv",
        table(
            ('"Timestamp"', '"What did you like, and why?"', '"How satisfied are you? (1-5)"'),
            rows(
                lambda i: (f'"2024/01/0{i} 9:00:00 AM GMT+1"', quoted(FIRST[i]), f'"{1 + i % 2}"')
            ),
            ",",
        ),
        "labelled",
        {"text": "What did you like, and why?", "label": "How satisfied are you? (1-5)"},
        FIRST[0],
        "1",
    ),
    Format(
        "Excel, German, with a score",
        "Mappe2.csv",
        "\ufeffSatz A;Satz B;Wert\r\n"
        + "".join(f"{FIRST[i]};{SECOND[i]};{i // 2},{5 * (i % 2)}\r\n" for i in range(N)),
        "scored",
        {"text": "Satz A", "second": "Satz B", "score": "Wert"},
        BOTH,
    ),
    Format(
        "R, write.table",
        "rows.txt",
        '"text" "label"\n'
        + "".join(f'"{i + 1}" {quoted(FIRST[i])} "{("pos", "neg")[i % 2]}"\n' for i in range(N)),
        "labelled",
        {"text": "text", "label": "label"},
        FIRST[0],
        "pos",
    ),
    Format(
        "R, all cells in quotation marks",
        "rows.tsv",
        table(('"V1"', '"V2"'), rows(lambda i: (quoted(FIRST[i]), f'"{("a", "b")[i % 2]}"'))),
        "labelled",
        {"text": "V1", "label": "V2"},
        FIRST[0],
        "a",
    ),
    Format(
        "Comments above a table",
        "survey.csv",
        "# Survey of 2024, second version\n# CC-BY\n"
        + table(("text", "label"), rows(lambda i: (FIRST[i], BINARY[i])), ","),
        "labelled",
        {"text": "text", "label": "label"},
        FIRST[0],
        "0",
    ),
    Format(
        "pandas to_json, by row",
        "rows.json",
        json.dumps({str(i): {"text": FIRST[i], "label": i % 2} for i in range(N)}),
        "labelled",
        {"text": "text", "label": "label"},
        FIRST[0],
        "0",
    ),
    Format(
        "pandas to_json, split",
        "split.json",
        json.dumps({"columns": ["text", "label"], "data": [[FIRST[i], i % 2] for i in range(N)]}),
        "labelled",
        {"text": "text", "label": "label"},
        FIRST[0],
        "0",
    ),
    Format(
        "The hub's viewer",
        "rows.json",
        json.dumps(
            {
                "features": [{"feature_idx": 0, "name": "text"}],
                "rows": [
                    {"row_idx": i, "row": {"text": FIRST[i], "label": i % 2}} for i in range(N)
                ],
            }
        ),
        "labelled",
        {"text": "text", "label": "label"},
        FIRST[0],
        "0",
    ),
    Format(
        "An archive of tweets",
        "tweets.js",
        "window.YTD.tweets.part0 = "
        + json.dumps(
            [{"tweet": {"full_text": FIRST[i], "lang": "en"}} for i in range(N)], indent=1
        ),
        "plain",
        {"text": "full_text"},
        FIRST[0],
    ),
    Format(
        "Pairs for preference tuning",
        "pairs.jsonl",
        json_lines(lambda i: {"prompt": "Go on.", "chosen": FIRST[i], "rejected": SECOND[i]}),
        "pairs",
        {"good": "chosen", "bad": "rejected"},
        FIRST[0],
        other=SECOND[0],
    ),
    Format(
        "Prompts and their completion",
        "prompts.jsonl",
        json_lines(lambda i: {"prompt": f"Town {i} lies on the", "completion": " Rhine"}),
        "masked",
        {"text": "prompt", "answer": "completion"},
        "Town 0 lies on the [MASK].",
    ),
    Format(
        "A numbered list with gaps",
        "cloze.txt",
        "".join(f"{i + 1}. The cook put the _ on table {i}.\n" for i in range(N)),
        "masked",
        {"text": "text"},
        "The cook put the [MASK] on table 0.",
    ),
    Format(
        "A table in Markdown",
        "table.txt",
        "| text | label |\n|---|:-:|\n"
        + "".join(f"| {FIRST[i]} | {BINARY[i]} |\n" for i in range(N)),
        "labelled",
        {"text": "text", "label": "label"},
        FIRST[0],
        "0",
    ),
    Format(
        "A gap of underscores",
        "cloze.txt",
        "".join(f"The cook put the ____ on table {i}.\n" for i in range(N)),
        "masked",
        {"text": "text"},
        "The cook put the [MASK] on table 0.",
    ),
    Format(
        "A choice of words",
        "choices.txt",
        "".join(f"The cook said that [he|she] was number {i}.\n" for i in range(N)),
        "masked",
        {"text": "text"},
        "The cook said that [MASK] was number 0.",
    ),
    Format(
        "A choice of words, in a table",
        "choices.csv",
        table(
            ("text", "group"),
            rows(lambda i: (f"The cook said that [he|she] was number {i}.", "cooks")),
            ",",
        ),
        "masked",
        {"text": "text", "group": "group"},
        "The cook said that [MASK] was number 0.",
    ),
    Format(
        "Several accepted answers",
        "rivers.csv",
        table(
            ("text", "answer"),
            rows(lambda i: (f"Town {i} lies on the [MASK].", "rhine|danube")),
            ",",
        ),
        "masked",
        {"text": "text", "answer": "answer"},
        "Town 0 lies on the [MASK].",
    ),
    Format(
        "Several accepted answers, as a list",
        "rivers.jsonl",
        json_lines(lambda i: {"text": f"Town {i} lies on the [MASK].", "answer": ["rhine", "po"]}),
        "masked",
        {"text": "text", "answer": "answer"},
        "Town 0 lies on the [MASK].",
    ),
)


def said(each: Format) -> str:
    """Return how a file is read, or the sentence why it is not."""
    try:
        return read_as(text_list(read_table(each.content, each.name)))
    except BadRows as refusal:
        return f"Refused: {refusal}"


def written() -> str:
    """Return docs/lists.md with the table of today."""
    read = [said(each).replace("|", "\\|") for each in FORMATS]
    lines = [
        f"| {each.source} | `{each.name}` | {how} |"
        for each, how in zip(FORMATS, read, strict=True)
    ]
    head = "| data set | file | how a file of ten rows in its form is read |\n|---|---|---|\n"
    text = DOCUMENT.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + head + "\n".join(lines) + "\n" + END + rest.partition(END)[2]


if __name__ == "__main__":
    DOCUMENT.write_text(written(), "utf-8")
