"""Handbooks as PDFs whose headings and pages are known, because this module sets them.

Three kinds, from the same text: *tagged* (headings only in the structure tree, set like the rest), *outlined* (with
bookmarks) and *plain*, whose headings show by typography alone. Size, weight, numbering, running heads, lists, tables
and bold lines that are no headings vary with the seed.
"""

import random
import textwrap
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["tagged", "outlined", "plain"]
WIDTH, HEIGHT, MARGIN = 612.0, 792.0, 72.0
_TOPICS = ("fluids", "salt", "pills", "bleeding", "infection", "fever", "travel", "driving", "work", "school", "sleep")
_TEXT = """
the team asks you to drink water and to write down your weight every morning because small changes show early that
something is wrong call the clinic on the same day when a dose was missed or when you feel unwell and keep a list of
your medicines with you at all times so that any doctor can see what you take never stop a medicine on your own
"""
_WORDS = _TEXT.split()


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as set: level from 1, page from 1."""

    text: str
    level: int
    page: int


@dataclass(frozen=True, slots=True)
class Marked:
    """A word that occurs once, in the text under ``heading``, and the page it stands on."""

    word: str
    heading: str
    page: int


@dataclass(slots=True)
class Golden:
    """A PDF and the truth about it."""

    kind: Kind
    data: bytes
    headings: list[Heading] = field(default_factory=list)
    marks: list[Marked] = field(default_factory=list)
    pages: int = 0


@dataclass(frozen=True, slots=True)
class _Look:
    serif: bool
    body: float
    sizes: tuple[float, float]
    bold: bool
    numbered: bool
    running: bool
    distractors: bool


class _Setter:
    """Sets lines down the page; each page is a list of content operators."""

    def __init__(self, look: _Look) -> None:
        self.look = look
        self.pages: list[list[str]] = []
        self.y = 0.0
        self.tags: list[list[int]] = []
        self.turn_page()

    def turn_page(self) -> None:
        self.pages.append([])
        self.tags.append([])
        self.y = HEIGHT - MARGIN
        if self.look.running:
            self.put("Center Handbook for Patients", 9, MARGIN, HEIGHT - 36, bold=False)
            self.put(f"Page {len(self.pages)}", 9, WIDTH / 2, 30, bold=False)

    def room(self, needed: float) -> None:
        if self.y - needed < MARGIN:
            self.turn_page()

    def line(self, text: str, size: float, *, bold: bool = False, x: float = MARGIN, tag: int = 0) -> int:
        """Set a line and return its page; ``tag``: 0 for text, else the level of a heading."""
        self.room(1.25 * size)
        self.y -= 1.25 * size
        self.put(text, size, x, self.y, bold=bold, tag=tag)
        return len(self.pages)

    def put(self, text: str, size: float, x: float, y: float, *, bold: bool, tag: int = 0) -> None:
        font = f"/F{2 * self.look.serif + bold + 1}"
        mark = len(self.tags[-1])
        self.tags[-1].append(tag)
        shown = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        name = f"/H{tag}" if tag else "/P"
        self.pages[-1].append(f"{name} <</MCID {mark}>> BDC BT {font} {size:g} Tf {x:g} {y:g} Td ({shown}) Tj ET EMC")


def golden(seed: int, kind: Kind, chapters: int = 6) -> Golden:
    """Return a handbook of the kind; the same seed gives the same text and look, as far as the kind allows."""
    chance = random.Random(seed)
    body = chance.choice([10.0, 11.0, 12.0])
    larger = (body * chance.choice([1.4, 1.7]), body * chance.choice([1.0, 1.15, 1.25]))
    sizes = (body, body) if kind == "tagged" else larger
    look = _Look(
        serif=chance.random() < 0.5,
        body=body,
        sizes=sizes,
        bold=kind != "tagged" and (chance.random() < 0.8 or larger[1] == body),
        numbered=chance.random() < 0.5,
        running=chance.random() < 0.7,
        distractors=chance.random() < 0.6,
    )
    setter = _Setter(look)
    found = Golden(kind, b"")
    for chapter in range(1, chapters + 1):
        _section(setter, found, chance, f"{chapter}" if look.numbered else "", 1)
        for number in range(1, chance.randint(2, 4)):
            _section(setter, found, chance, f"{chapter}.{number}" if look.numbered else "", 2)
    found.pages = len(setter.pages)
    found.data = _written(setter, found)
    return found


def _section(setter: _Setter, found: Golden, chance: random.Random, number: str, level: int) -> None:
    look = setter.look
    size = look.sizes[level - 1]
    setter.room(6 * size)
    setter.y -= 1.2 * size
    title = f"{number} {_title(chance, len(found.headings))}".strip()
    lines = textwrap.wrap(title, 44)
    page = min([setter.line(line, size, bold=look.bold, tag=level) for line in lines])
    found.headings.append(Heading(title, level, page))
    setter.y -= 0.3 * size
    for _ in range(chance.randint(1, 4)):
        _paragraph(setter, found, chance, title)
    if chance.random() < 0.4:
        for _ in range(3):
            setter.line(f"\x95 {' '.join(_words(chance, 7))}", look.body, x=MARGIN + 12)
    if chance.random() < 0.3:
        for _ in range(3):
            setter.room(1.25 * look.body)
            setter.y -= 1.25 * look.body
            for column in range(3):
                cell = " ".join(_words(chance, 2))
                setter.put(cell, look.body, MARGIN + 150 * column, setter.y, bold=False)


def _paragraph(setter: _Setter, found: Golden, chance: random.Random, heading: str) -> None:
    look = setter.look
    setter.y -= 0.5 * look.body
    word = f"mark{len(found.marks)}"
    words = _words(chance, chance.randint(30, 110))
    words.insert(chance.randrange(len(words)), word)
    text = " ".join(words).capitalize() + "."
    for number, line in enumerate(textwrap.wrap(text, int(900 / look.body))):
        bold = look.distractors and number == 1 and chance.random() < 0.2
        page = setter.line(line, look.body, bold=bold)
        if word in line.lower().replace(".", " ").split():
            found.marks.append(Marked(word, heading, page))


def _title(chance: random.Random, number: int) -> str:
    topic = chance.choice(_TOPICS)
    form = chance.choice(
        ["{} at home", "What to know about {}", "{}", "Your {} and the first weeks after you leave us"]
    )
    return f"{form.format(topic).capitalize()} {'abcdefghijklmnopqrstuvwxyz'[number % 26] * 2}{number // 26 or ''}"


def _words(chance: random.Random, count: int) -> list[str]:
    start = chance.randrange(len(_WORDS))
    return [_WORDS[(start + step) % len(_WORDS)] for step in range(count)]


def _written(setter: _Setter, found: Golden) -> bytes:
    """Write the file: catalogue, pages, four fonts, a page object and its content each, then outline or tags."""
    count = len(setter.pages)
    fonts = ("Helvetica", "Helvetica-Bold", "Times-Roman", "Times-Bold")
    resources = " ".join(f"/F{n} {n + 2} 0 R" for n in range(1, 5))
    objects = ["", f"<< /Type /Pages /Count {count} /Kids [{' '.join(f'{_page(n)} 0 R' for n in range(count))}] >>"]
    objects += [f"<< /Type /Font /Subtype /Type1 /BaseFont /{f} /Encoding /WinAnsiEncoding >>" for f in fonts]
    for number, operators in enumerate(setter.pages):
        content = "\n".join(operators)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH:g} {HEIGHT:g}] /Contents {_page(number) + 1} 0 R "
            f"/StructParents {number} /Resources << /Font << {resources} >> >> >>"
        )
        objects.append(f"<< /Length {len(content.encode('latin-1'))} >>\nstream\n{content}\nendstream")
    extra = ""
    if found.kind == "outlined":
        extra = f"/Outlines {len(objects) + 1} 0 R"
        objects += _outline(found, len(objects) + 1)
    elif found.kind == "tagged":
        extra = f"/MarkInfo << /Marked true >> /StructTreeRoot {len(objects) + 1} 0 R"
        objects += _tags(setter, len(objects) + 1)
    objects[0] = f"<< /Type /Catalog /Pages 2 0 R {extra} >>"
    return numbered(objects)


def _page(number: int) -> int:
    return 7 + 2 * number


def _outline(found: Golden, root: int) -> list[str]:
    """Return the bookmarks: chapters, and under each its sections."""
    numbers = range(len(found.headings))
    parent = [root if found.headings[n].level == 1 else 0 for n in numbers]
    for n in numbers:
        if not parent[n]:
            parent[n] = root + 1 + max(k for k in range(n) if found.headings[k].level == 1)
    family = {one: [root + 1 + n for n in numbers if parent[n] == one] for one in {root, *parent}}
    objects = [f"<< /Type /Outlines {_ends(family[root])} >>"]
    for n, heading in enumerate(found.headings):
        own, brothers = root + 1 + n, family[parent[n]]
        place = brothers.index(own)
        before = f"/Prev {brothers[place - 1]} 0 R" if place else ""
        after = f"/Next {brothers[place + 1]} 0 R" if place + 1 < len(brothers) else ""
        links = f"/Parent {parent[n]} 0 R {before} {after} {_ends(family.get(own, []))}"
        objects.append(f"<< /Title ({heading.text}) {links} /Dest [{_page(heading.page - 1)} 0 R /Fit] >>")
    return objects


def _ends(children: list[int]) -> str:
    return f"/First {children[0]} 0 R /Last {children[-1]} 0 R /Count {len(children)}" if children else ""


def _tags(setter: _Setter, root: int) -> list[str]:
    """Return the structure tree: one element a line, by page and marked-content id, and the way back to them."""
    elements: list[str] = []
    parents: list[str] = []
    for page, tags in enumerate(setter.tags):
        first = root + 1 + len(elements)
        parents.append(f"{page} [{' '.join(f'{first + mark} 0 R' for mark in range(len(tags)))}]")
        for mark, tag in enumerate(tags):
            name = f"H{tag}" if tag else "P"
            elements.append(f"<< /Type /StructElem /S /{name} /P {root} 0 R /Pg {_page(page)} 0 R /K {mark} >>")
    kids = " ".join(f"{root + 1 + number} 0 R" for number in range(len(elements)))
    return [f"<< /Type /StructTreeRoot /K [{kids}] /ParentTree << /Nums [{' '.join(parents)}] >> >>", *elements]


def numbered(objects: list[str]) -> bytes:
    """Write objects, numbered from 1, as a PDF with its table of offsets."""
    data = b"%PDF-1.7\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    start = len(data)
    data += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    data += b"".join(f"{offset:010d} 00000 n \n".encode() for offset in offsets)
    return data + f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF".encode()
