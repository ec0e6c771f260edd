"""The console script: finds the command, checks its arguments whole, runs it, and turns errors into exit codes."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from transplantqa.errors import ConfigError, Interrupted, TransplantQAError
from transplantqa.signals import interruptible

Handler = Callable[[Sequence[str]], int]


@dataclass(frozen=True)
class Command:
    """A command's one-line summary, usage, and the handler, imported only when it is called."""

    summary: str
    usage: str
    handler: Callable[[], Handler]


def _hydra(command: str) -> Callable[[], Handler]:
    def load() -> Handler:
        from transplantqa.hydra_app import run_command  # noqa: PLC0415

        return lambda arguments: run_command(command, arguments)

    return load


def _show() -> Handler:
    from transplantqa.report.show import main as show  # noqa: PLC0415

    return show


def _track() -> Handler:
    from transplantqa.tracking.command import main as track  # noqa: PLC0415

    return track


def _contrast() -> Handler:
    from transplantqa.contrasts.command import quoted  # noqa: PLC0415
    from transplantqa.hydra_app import run_command  # noqa: PLC0415

    return lambda arguments: run_command("contrast", quoted(arguments))


def _validate() -> Handler:
    from transplantqa.hydra_app import run_command  # noqa: PLC0415
    from transplantqa.validation.command import hydra_arguments  # noqa: PLC0415

    return lambda arguments: run_command("validate", hydra_arguments(arguments))


def _control(command: str) -> Callable[[], Handler]:
    def load() -> Handler:
        from transplantqa.contrasts.command import quoted  # noqa: PLC0415
        from transplantqa.hydra_app import run_command  # noqa: PLC0415

        def handle(arguments: Sequence[str]) -> int:
            named = [text if "=" in text or text.startswith("-") else f"run={text}" for text in arguments]
            return run_command(command, quoted(named))

        return handle

    return load


def _robustness() -> Handler:
    from transplantqa.controls.robustness_command import main as robustness  # noqa: PLC0415

    return robustness


def _report() -> Handler:
    from transplantqa.report.page.command import main as report  # noqa: PLC0415

    return report


def _curate() -> Handler:
    from transplantqa.corpus.curate_command import hydra_arguments  # noqa: PLC0415
    from transplantqa.hydra_app import run_command  # noqa: PLC0415

    return lambda arguments: run_command("curate-questions", hydra_arguments(arguments))


def _init() -> Handler:
    from transplantqa.scaffold.command import main as init  # noqa: PLC0415

    return init


def _push() -> Handler:
    from transplantqa.hub.push_command import main as push  # noqa: PLC0415

    return push


def _pull() -> Handler:
    from transplantqa.hub.pull_command import main as pull  # noqa: PLC0415

    return pull


def _reproduce() -> Handler:
    from transplantqa.release.reproduce_command import main as reproduce  # noqa: PLC0415

    return reproduce


def _store(command: str) -> Callable[[], Handler]:
    def load() -> Handler:
        from transplantqa.store import commands  # noqa: PLC0415

        handler: Handler = getattr(commands, command)
        return handler

    return load


COMMANDS: Mapping[str, Command] = {
    "run": Command("audit one system, or several with -m", "[-m] [group=choice ...] [key=value ...]", _hydra("run")),
    "init": Command(
        "a project for your folder of documents: manifest, questions template, configurations",
        "FOLDER [out=PROJECT] [name=NAME] [groups=a,b]",
        _init,
    ),
    "plan": Command(
        "what a run would do, need and cost, before it does anything",
        "[group=choice ...] [key=value ...]",
        _hydra("plan"),
    ),
    "doctor": Command(
        "whether this machine can run a system: engines, models, services, three probe calls",
        "[group=choice ...] [key=value ...]",
        _hydra("doctor"),
    ),
    "ingest": Command("read documents and say what was found", "[corpus=...] [key=value ...]", _hydra("ingest")),
    "curate-questions": Command(
        "a question set from raw candidates, with proposals to accept and a log",
        "FILE [out=FOLDER] [model=...] | accept=REVIEW [out=FOLDER]",
        _curate,
    ),
    "release": Command("build the dataset folder of finished runs", "runs=[...] [key=value ...]", _hydra("release")),
    "push": Command(
        "put a built release on the Hugging Face Hub, or say what that would change",
        "repo=OWNER/NAME [folder=release] [tag=TAG] [private=yes|no] [schema=same|replace] [dry_run=yes]",
        _push,
    ),
    "pull": Command(
        "a pinned release from the Hub, checked, as runs that report, contrast and validate read",
        "repo=OWNER/NAME revision=TAG_OR_COMMIT [artifacts=DIR]",
        _pull,
    ),
    "reproduce": Command(
        "what the papers claim beside what finished runs give",
        "[BASELINE] RUN [claims=FILE] [output=table|json] [artifacts=DIR]",
        _reproduce,
    ),
    "contrast": Command(
        "what changed between two runs, and where it comes from",
        "baseline=RUN candidate=RUN [key=value ...]",
        _contrast,
    ),
    "validate": Command(
        "is the judge an instrument: pairs for people to label, agreement with them, judges side by side",
        "sample|agreement|compare RUN|FILE ... [key=value ...]",
        _validate,
    ),
    "probe-silence": Command(
        "how much of a run's silence is false: a sample asked again with whole documents",
        "RUN [silent_cells=N] [key=value ...]",
        _control("probe-silence"),
    ),
    "same-source": Command(
        "the divergence a run would report without any: one document answers twice",
        "RUN [by=paraphrase|seed|prompt] [key=value ...]",
        _control("same-source"),
    ),
    "robustness": Command(
        "how far the findings depend on the judge: prompts, models, orders, citations",
        "RUN RUN [RUN ...] | sweep=ID [artifacts=DIR]",
        _robustness,
    ),
    "evaluate-retrieval": Command(
        "compare retrievers with what people found in the documents",
        "[retrievers=[bm25,...]] [group=choice ...] [key=value ...]",
        _hydra("evaluate-retrieval"),
    ),
    "report": Command("write a finished run's page again", "RUN [RUN ...] [artifacts=DIR]", _report),
    "show": Command(
        "one question's answers and relations", "question=ID [document=ID] [run=RUN] [artifacts=DIR]", _show
    ),
    "status": Command(
        "what a run has done and what is missing, per stage and shard",
        "[group=choice ...] [shard.count=N] [key=value ...]",
        _hydra("status"),
    ),
    "explain": Command("what differs between two runs or methods", "A B [artifacts=DIR]", _store("explain")),
    "track": Command("write finished runs into MLflow, now or again", "RUN [RUN ...] [artifacts=DIR]", _track),
    "prune": Command("list what no run refers to, or delete it", "[delete=yes] [artifacts=DIR]", _store("prune")),
    "repair": Command("mend a ledger's folder: repeated rows, damaged parts", "FOLDER", _store("repair")),
}
HELP_FLAGS = frozenset({"-h", "--help", "help"})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command named first and return its exit code (see ``transplantqa.errors``)."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if not arguments or arguments[0] in HELP_FLAGS:
            sys.stdout.write(help_text())
            return 0 if arguments else ConfigError.exit_code
        if arguments[0] == "--version":
            from transplantqa import __version__  # noqa: PLC0415

            sys.stdout.write(f"transplantqa {__version__}\n")
            return 0
        with interruptible():
            return _command(arguments[0]).handler()(arguments[1:])
    except TransplantQAError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted; finished work is kept. Run the same command again to go on.\n")
        return Interrupted.exit_code
    except BrokenPipeError:
        sys.stderr.close()
        return 0


def _command(name: str) -> Command:
    if name not in COMMANDS:
        import difflib  # noqa: PLC0415

        close = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        raise ConfigError(f"{name!r} is not a command.\n{hint}Commands: {', '.join(COMMANDS)}")
    return COMMANDS[name]


def help_text() -> str:
    """Return the list of commands."""
    width = max(map(len, COMMANDS))
    lines = [
        "transplantqa audits source-dependence: does an answer depend on whose document was read?",
        "",
        "Usage: transplantqa COMMAND [arguments]",
        "",
        "Commands:",
        *(f"  {name:<{width}}  {command.summary}" for name, command in COMMANDS.items()),
        "",
        "Usage of each:",
        *(f"  transplantqa {name} {command.usage}" for name, command in COMMANDS.items()),
        "",
        "  transplantqa run --help lists the configuration groups and their choices.",
        "",
        "Exit codes: 0 done, 2 configuration, 3 input, 4 model, 5 disk or ledger, 6 too many failures, 75 interrupted.",
        "A research instrument: nothing here ranks institutions or gives advice, medical or other.",
        "",
    ]
    return "\n".join(lines)


def plain_arguments(arguments: Sequence[str], allowed: Sequence[str], usage: str) -> dict[str, str]:
    """Read ``key=value`` arguments.

    Raises:
        ConfigError: naming every argument that isn't one of ``allowed``.
    """
    found: dict[str, str] = {}
    problems = []
    for argument in arguments:
        key, separator, value = argument.partition("=")
        if not separator or key not in allowed:
            problems.append(f"{argument!r} is not one of {', '.join(f'{name}=...' for name in allowed)}")
        else:
            found[key] = value
    if problems:
        raise ConfigError("\n".join([*problems, f"Usage: {usage}"]))
    return found
