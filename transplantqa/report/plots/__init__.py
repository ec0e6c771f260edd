"""A run's figures for papers, drawn by matplotlib; the page shows the same."""

from transplantqa.report.plots.files import FIGURES_FOLDER, write_figures

__all__ = ["FIGURES_FOLDER", "write_figures"]
