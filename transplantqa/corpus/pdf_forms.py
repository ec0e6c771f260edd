"""Form fields of a PDF page: they are counted where they hold text, so that a person can be told, and not read."""

import ctypes

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from transplantqa.corpus.pdf_characters import Handle

MAX_ANNOTATIONS = 5_000
"""Annotations looked at on one page. Ours."""
_WITH_TEXT = frozenset(
    {pdfium_c.FPDF_FORMFIELD_TEXTFIELD, pdfium_c.FPDF_FORMFIELD_COMBOBOX, pdfium_c.FPDF_FORMFIELD_LISTBOX}
)


def start_forms(document: Handle) -> None:
    """Let the fields of a document be asked; to be called before its pages are loaded."""
    try:
        document.init_forms()
    except pdfium.PdfiumError:
        return


def filled_fields(document: Handle, page: Handle) -> int:
    """Count the fields of a page for text or a choice that have a value."""
    forms = document.formenv
    if forms is None:
        return 0
    filled = 0
    for index in range(min(MAX_ANNOTATIONS, max(0, pdfium_c.FPDFPage_GetAnnotCount(page.raw)))):
        annotation = pdfium_c.FPDFPage_GetAnnot(page.raw, index)
        if not annotation:
            continue
        try:
            filled += _is_filled(forms, annotation)
        finally:
            pdfium_c.FPDFPage_CloseAnnot(annotation)
    return filled


def _is_filled(forms: Handle, annotation: Handle) -> bool:
    if pdfium_c.FPDFAnnot_GetFormFieldType(forms.raw, annotation) not in _WITH_TEXT:
        return False
    length = pdfium_c.FPDFAnnot_GetFormFieldValue(forms.raw, annotation, None, 0)
    buffer = (pdfium_c.FPDF_WCHAR * (length // 2 + 1))()
    pdfium_c.FPDFAnnot_GetFormFieldValue(forms.raw, annotation, buffer, ctypes.sizeof(buffer))
    return bool(bytes(buffer).decode("utf-16-le", "replace").strip("\0 \t\r\n"))
