"""PDFs that harm careless readers: damaged, encrypted, without end, or of absurd sizes."""

import io
import zlib
from collections.abc import Iterator

from reportlab.lib import pdfencrypt
from reportlab.pdfgen.canvas import Canvas

from benchmarks.golden_pdfs import golden, numbered

_PAGES = "<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
_CATALOG = "<< /Type /Catalog /Pages 2 0 R >>"
_FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def hard_pdfs() -> Iterator[tuple[str, bytes]]:
    """Yield names and contents."""
    good = golden(1, "outlined").data
    yield "zero bytes", b""
    yield "noise", bytes(range(256)) * 400
    yield "only a header", b"%PDF-1.7\n"
    for share in (10, 50, 95):
        yield f"cut at {share} %", good[: len(good) * share // 100]
    yield "offsets all wrong", good.replace(b"00000 n", b"00001 n")
    yield "bytes overwritten", b"\x00".join(good[n : n + 997] for n in range(0, len(good), 1000))
    yield "password", encrypted("secret")
    yield "empty password", encrypted("")
    yield from _trees()
    yield from _bombs()
    yield from _boxes()
    yield from _crowds()


def encrypted(password: str) -> bytes:
    file = io.BytesIO()
    canvas = Canvas(file, encrypt=pdfencrypt.StandardEncryption(password, ownerPassword="owner", strength=128))
    canvas.drawString(72, 700, "Drink two litres of water a day.")
    canvas.save()
    return file.getvalue()


def one_page(
    content: bytes, page: str = "/MediaBox [0 0 612 792]", filters: str = "", more: tuple[str, ...] = ()
) -> bytes:
    """Return a PDF of one page with this content; ``more`` are objects from number 6 on."""
    stream = f"<< /Length {len(content)} {filters} >>\nstream\n{content.decode('latin-1')}\nendstream"
    resources = "/Resources << /Font << /F1 4 0 R >> /XObject << /X 6 0 R >> >>"
    body = f"<< /Type /Page /Parent 2 0 R {page} /Contents 5 0 R {resources} >>"
    return numbered([_CATALOG, _PAGES, body, _FONT, stream, *more])


def _trees() -> Iterator[tuple[str, bytes]]:
    yield (
        "page tree in a circle",
        numbered([_CATALOG, "<< /Type /Pages /Kids [2 0 R] /Count 99999999 /Parent 2 0 R >>"]),
    )
    deep = [f"<< /Type /Pages /Kids [{n + 3} 0 R] /Count 1 >>" for n in range(20_000)]
    yield "page tree 20,000 deep", numbered([_CATALOG, *deep, "<< /Type /Page /MediaBox [0 0 9 9] >>"])
    yield "count of 999,999,999", golden(1, "plain").data.replace(b"/Count", b"/Count 999999999 /Old", 1)
    yield (
        "100,000 pages",
        numbered(
            [
                _CATALOG,
                f"<< /Type /Pages /Count 100000 /Kids [{'3 0 R ' * 100_000}] >>",
                "<< /Type /Page /Parent 2 0 R >>",
            ]
        ),
    )
    circle = "<< /Type /Outlines /First 5 0 R /Last 5 0 R >>"
    mark = "<< /Title (Again) /Parent 4 0 R /Next 5 0 R /First 5 0 R /Dest [3 0 R /Fit] >>"
    page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"
    yield "outline in a circle", numbered([_CATALOG[:-2] + "/Outlines 4 0 R >>", _PAGES, page, circle, mark])
    tags = "/MarkInfo << /Marked true >> /StructTreeRoot 4 0 R >>"
    root = "<< /Type /StructTreeRoot /K 5 0 R /ParentTree << /Nums [0 [5 0 R]] >> >>"
    element = "<< /S /H1 /P 5 0 R /Pg 3 0 R /K [5 0 R 0] >>"
    tagged = page[:-2] + "/StructParents 0 >>"
    yield "tags in a circle", numbered([_CATALOG[:-2] + tags, _PAGES, tagged, root, element])
    yield "arrays 100,000 deep", numbered([_CATALOG, "[" * 100_000 + "]" * 100_000])


def _bombs() -> Iterator[tuple[str, bytes]]:
    twice = zlib.compress(zlib.compress(b" " * (1 << 25)) * 64)
    yield "content that unpacks to 2 GB", one_page(twice, filters="/Filter [/FlateDecode /FlateDecode]")
    once = zlib.compress(b"q " * (1 << 25))
    yield "32 million saved states", one_page(once, filters="/Filter /FlateDecode")
    form = "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >> /Length 11 >>"
    yield "form that draws itself", one_page(b"/X Do /X Do", more=(f"{form}\nstream\n/X Do /X Do\nendstream",))
    yield "form 30 levels deep, two each", one_page(b"/X Do", more=tuple(_doubling(30)))
    image = "<< /Type /XObject /Subtype /Image /Width 60000 /Height 60000 /BitsPerComponent 8 /ColorSpace /DeviceRGB"
    yield "picture of 60,000 by 60,000", one_page(b"/X Do", more=(f"{image} /Length 1 >>\nstream\n0\nendstream",))


def _doubling(levels: int) -> Iterator[str]:
    for level in range(levels):
        resources = f"/Resources << /Font << /F1 4 0 R >> /XObject << /X {7 + level} 0 R >> >>"
        content = "/X Do /X Do" if level + 1 < levels else "BT /F1 9 Tf (again) Tj ET"
        head = f"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] {resources} /Length {len(content)} >>"
        yield f"{head}\nstream\n{content}\nendstream"


def _boxes() -> Iterator[tuple[str, bytes]]:
    text = b"BT /F1 11 Tf 72 700 Td (Drink two litres of water a day.) Tj ET"
    for name, box in (
        ("huge", "0 0 1e30 1e30"),
        ("empty", "0 0 0 0"),
        ("upside down", "612 792 0 0"),
        ("far", "1e9 1e9 2e9 2e9"),
    ):
        yield f"{name} box", one_page(text, f"/MediaBox [{box}] /Rotate 37")
    yield "text of size 1e30", one_page(text.replace(b" 11 ", b" 1e30 "))


def _crowds() -> Iterator[tuple[str, bytes]]:
    words = b"BT /F1 8 Tf 9 TL " + b"".join(b"(word%d) Tj T* " % n for n in range(30_000)) + b"ET"
    yield "page of 30,000 words", one_page(words)
    fonts = "/Resources << /Font << /F1 4 0 R >> >> /MediaBox [0 0 612 792]"
    stream = f"<< /Length {len(words)} >>\nstream\n{words.decode()}\nendstream"
    page = f"<< /Type /Page /Parent 2 0 R /Contents 5 0 R {fonts} >>"
    kids = f"<< /Type /Pages /Kids [{'3 0 R ' * 1000}] /Count 1000 >>"
    yield "1,000 pages of 30,000 words", numbered([_CATALOG, kids, page, _FONT, stream])
    ticks = (
        b"BT /F1 8 Tf " + b"".join(b"1 0 0 1 %d %d Tm (a b) Tj " % (n % 600, n // 600) for n in range(60_000)) + b"ET"
    )
    yield "60,000 scattered letters", one_page(ticks)
    lines = b"".join(b"%d %d m %d 9 l S " % (n % 600, n % 700, n % 500) for n in range(300_000))
    yield "300,000 lines drawn", one_page(lines)
