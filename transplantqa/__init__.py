"""Audit source-dependence: ask every document the same questions, judge every two answers, measure who says what."""


def __getattr__(name: str) -> str:
    """Look the version up when it is asked for: reading package metadata takes longer than showing the help."""
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415

        return version("transplantqa")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
