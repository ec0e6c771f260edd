"""What a user can get wrong, each with the exit code the program ends with.

Exit codes: 0 done; 1 a bug (traceback shown); 2 usage or configuration; 3 input data; 4 a model or engine; 5 the
ledger or the disk; 6 the run finished but more failed than the configured limit, or a job of a sweep failed; 75
interrupted by a signal, finished work is kept (EX_TEMPFAIL: run the same command again to resume).
"""

EXIT_OK = 0
EXIT_FAILURES = 6
EXIT_INTERRUPTED = 75


class TransplantQAError(Exception):
    """A problem the user can mend: ``str(error)`` says what, where and the remedy, one problem a paragraph."""

    exit_code = 1


class ConfigError(TransplantQAError):
    """One or more problems in the command line or the composed configuration."""

    exit_code = 2


class InputError(TransplantQAError):
    """Documents, questions or gold that can't be read as given."""

    exit_code = 3


class ModelError(TransplantQAError):
    """A model file, engine or endpoint that can't be used."""

    exit_code = 4


class StoreError(TransplantQAError):
    """The ledger can't be written or read: full disk, read-only folder, a lock held by another writer."""

    exit_code = 5


class Interrupted(TransplantQAError):  # noqa: N818 - a state, not an error
    """A signal ended the run; everything flushed is kept and the same command resumes."""

    exit_code = EXIT_INTERRUPTED
