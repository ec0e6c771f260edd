"""From journal to part: the step that a crash may interrupt at any point and the next writer completes."""

import logging
from pathlib import Path

import pyarrow as pa

from transplantqa.store.atomic import refusals, sync_folder
from transplantqa.store.journal import read_journal
from transplantqa.store.parts import is_intact, journal_path, ledger_files, set_aside, write_part

_log = logging.getLogger(__name__)


def seal_journal(folder: Path, stem: str) -> None:
    """Move a journal's sound rows into the part with the same stem and remove it; set it aside when it is damaged.

    To be called by the holder of the shard's lock. Where a crash left the part beside its journal, an intact part is
    kept and a damaged one made again, so that no row is there twice.

    Raises:
        StoreError: the disk refuses; the journal is still there.
    """
    path = journal_path(folder, stem)
    content = read_journal(path)
    if content.batches and not _is_sealed(folder, stem):
        columns = content.batches[0].schema
        write_part(folder, stem, pa.Table.from_batches(content.batches, columns))
    if content.damaged_bytes:
        set_aside(path, f"{content.damaged_bytes} bytes failed their checksum; its {content.rows} sound rows are kept")
        return
    with refusals("remove", path):
        path.unlink(missing_ok=True)
        sync_folder(folder)


def seal_leftovers(folder: Path, shard_label: str) -> None:
    """Seal the journals that a writer of this shard left when it was killed. To be called by the holder of its lock."""
    for file in ledger_files(folder):
        if file.kind == "journal" and file.shard_label == shard_label:
            _log.info("Recovering %s", file.path)
            seal_journal(folder, file.stem)


def _is_sealed(folder: Path, stem: str) -> bool:
    parts = [file for file in ledger_files(folder) if file.kind == "part" and file.stem == stem]
    for part in parts:
        if not is_intact(part):
            set_aside(part.path, "its digest is not the one in its name")
            return False
    return bool(parts)
