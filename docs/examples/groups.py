import explorer

frames = ["We talked about the {} all day.", "There was {} again this morning."]
words = {
    "food": "soup bread rice cake fish salad cheese apples butter coffee",
    "sport": "goal race team match coach player referee league medal stadium",
}
rows = [
    {"text": frame.format(word), "label": label, "word": word}
    for label in words
    for word in words[label].split()
    for frame in frames
]
answer = explorer.texts(rows, "mini", kind="labelled", group="word")
answer.to_dict()["summary"]["cautions"]
