"""One self-contained HTML page of a run: its findings, what they are worth, and the disagreement itself."""

from transplantqa.report.page.write import REPORT_FILE, write_page

__all__ = ["REPORT_FILE", "write_page"]
