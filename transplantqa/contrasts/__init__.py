"""Two finished runs against each other: whether they can be, what differs, what changed."""

from transplantqa.contrasts.folder import ContrastFolder

__all__ = ["ContrastFolder"]
