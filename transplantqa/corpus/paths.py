"""Paths people give: on disk, or of what an installed package ships."""

from importlib import util
from pathlib import Path

from transplantqa.errors import InputError


def located(path: str) -> Path:
    """Return the path that ``path`` names: as it stands, or ``package:NAME/FILE`` inside an installed package.

    The package isn't imported, and the path need not exist.
    """
    if not path.startswith("package:"):
        return Path(path).expanduser()
    name, _, rest = path.removeprefix("package:").partition("/")
    spec = util.find_spec(name) if name.isidentifier() else None
    if spec is None or spec.origin is None:
        raise InputError(f"{path}: there is no installed package {name}.\nWrite package:NAME/FILE, or a path on disk.")
    return Path(spec.origin).parent / rest
