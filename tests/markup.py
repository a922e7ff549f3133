"""What is in markup: its text, its tables, and the elements of a name, a class or an attribute."""

from html.parser import HTMLParser

VOID = {"br", "hr", "img", "input", "link", "meta"}


class Element:
    """An element with its attributes, its text and everything in it."""

    def __init__(self, tag="", attributes=()):
        self.tag, self.attributes, self.children = tag, dict(attributes), []

    def __getitem__(self, name):
        return self.attributes[name]

    def __iter__(self):
        """Yield every element inside, in the order of the markup."""
        for child in self.children:
            if isinstance(child, Element):
                yield child
                yield from child

    def text(self, between=""):
        return between.join(
            child if isinstance(child, str) else child.text(between) for child in self.children
        )

    def every(self, tag="", cls="", **attributes):
        """Return the elements that have all that is named; an attribute that is ... has any value."""
        wanted = {name.replace("_", "-"): value for name, value in attributes.items()}
        return [
            one
            for one in self
            if tag in ("", one.tag)
            and (not cls or cls in one.attributes.get("class", "").split())
            and all(
                name in one.attributes and value in (..., one[name])
                for name, value in wanted.items()
            )
        ]


class _Reader(HTMLParser):
    def __init__(self, markup):
        super().__init__()
        self.open = [Element()]
        self.feed(str(markup))
        self.close()

    def handle_starttag(self, tag, attributes):
        element = Element(tag, attributes)
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.open[-1].children.append(Element(tag, attributes))

    def handle_endtag(self, tag):
        while len(self.open) > 1 and self.open.pop().tag != tag:
            pass

    def handle_data(self, data):
        self.open[-1].children.append(data)


def parsed(markup):
    """Return the element that holds all of some markup."""
    return _Reader(markup).open[0]


def plain(markup, between=""):
    """Return the text of some markup."""
    return parsed(markup).text(between)


def every(markup, *tag, **wanted):
    """Return the elements that have all that is named (``Element.every``)."""
    return parsed(markup).every(*tag, **wanted)


def rows(markup):
    """Return the text of each cell of the tables in some markup, row by row."""
    return [
        [cell.text() for cell in row if cell.tag in ("th", "td")] for row in every(markup, "tr")
    ]
