"""The console script: finds the command, checks its arguments whole, runs it, and turns errors into exit codes."""

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transplantqa.errors import ConfigError, Interrupted, TransplantQAError
from transplantqa.signals import interruptible

Handler = Callable[[Sequence[str]], int]


@dataclass(frozen=True)
class Command:
    """A command's one-line summary, its usage, and what is loaded when it is called, as "module:function".

    Attributes:
        summary: what it is for.
        usage: its arguments.
        main: takes the arguments and returns the exit code; by default Hydra runs the command's configuration.
        prepare: turns the arguments into Hydra's overrides.
    """

    summary: str
    usage: str
    main: str = ""
    prepare: str = ""

    def handler(self, name: str) -> Handler:
        """Load what runs this command, called ``name``."""
        if self.main:
            return _loaded(self.main)
        run_command = _loaded("transplantqa.hydra_app:run_command")
        prepare = _loaded(self.prepare) if self.prepare else list
        return lambda arguments: run_command(name, prepare(arguments))


def _loaded(place: str) -> Callable[..., Any]:
    module, _, function = place.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


COMMANDS: Mapping[str, Command] = {
    "run": Command("audit one system, or several with -m", "[-m] [group=choice ...] [key=value ...]"),
    "init": Command(
        "a project for your folder of documents: manifest, questions template, configurations",
        "FOLDER [out=PROJECT] [name=NAME] [groups=a,b]",
        "transplantqa.scaffold.command:main",
    ),
    "plan": Command(
        "what a run would do, need and cost, before it does anything",
        "[group=choice ...] [key=value ...]",
    ),
    "doctor": Command(
        "whether this machine can run a system: engines, models, services, three probe calls",
        "[group=choice ...] [key=value ...]",
    ),
    "ingest": Command("read documents and say what was found", "[corpus=...] [key=value ...]"),
    "curate-questions": Command(
        "a question set from raw candidates, with proposals to accept and a log",
        "FILE [out=FOLDER] [model=...] | accept=REVIEW [out=FOLDER]",
        prepare="transplantqa.command_lines:of_a_file",
    ),
    "release": Command("build the dataset folder of finished runs", "runs=[...] [key=value ...]"),
    "push": Command(
        "put a built release on the Hugging Face Hub, or say what that would change",
        "repo=OWNER/NAME [folder=release] [tag=TAG] [private=yes|no] [schema=same|replace] [dry_run=yes]",
        "transplantqa.hub.push_command:main",
    ),
    "pull": Command(
        "a pinned release from the Hub, checked, as runs that report, contrast and validate read",
        "repo=OWNER/NAME revision=TAG_OR_COMMIT [artifacts=DIR]",
        "transplantqa.hub.pull_command:main",
    ),
    "reproduce": Command(
        "what the papers claim beside what finished runs give",
        "[BASELINE] RUN [claims=FILE] [output=table|json] [artifacts=DIR]",
        "transplantqa.release.reproduce_command:main",
    ),
    "contrast": Command(
        "what changed between two runs, and where it comes from",
        "baseline=RUN candidate=RUN [key=value ...]",
        prepare="transplantqa.command_lines:of_two_runs",
    ),
    "validate": Command(
        "is the judge an instrument: pairs for people to label, agreement with them, judges side by side",
        "sample|agreement|compare RUN|FILE ... [key=value ...]",
        prepare="transplantqa.validation.command:hydra_arguments",
    ),
    "probe-silence": Command(
        "how much of a run's silence is false: a sample asked again with whole documents",
        "RUN [silent_cells=N] [key=value ...]",
        prepare="transplantqa.command_lines:of_a_run",
    ),
    "same-source": Command(
        "the divergence a run would report without any: one document answers twice",
        "RUN [by=paraphrase|seed|prompt] [key=value ...]",
        prepare="transplantqa.command_lines:of_a_run",
    ),
    "robustness": Command(
        "how far the findings depend on the judge: prompts, models, orders, citations",
        "RUN RUN [RUN ...] | sweep=ID [artifacts=DIR]",
        "transplantqa.controls.robustness_command:main",
    ),
    "evaluate-retrieval": Command(
        "compare retrievers with what people found in the documents",
        "[retrievers=[bm25,...]] [group=choice ...] [key=value ...]",
    ),
    "report": Command(
        "write a finished run's page again", "RUN [RUN ...] [artifacts=DIR]", "transplantqa.report.page.command:main"
    ),
    "show": Command(
        "one question's answers and relations",
        "question=ID [document=ID] [run=RUN] [artifacts=DIR]",
        "transplantqa.report.show:main",
    ),
    "status": Command(
        "what a run has done and what is missing, per stage and shard",
        "[group=choice ...] [shard.count=N] [key=value ...]",
    ),
    "explain": Command(
        "what differs between two runs or methods", "A B [artifacts=DIR]", "transplantqa.store.commands:explain"
    ),
    "track": Command(
        "write finished runs into MLflow, now or again",
        "RUN [RUN ...] [artifacts=DIR]",
        "transplantqa.tracking.command:main",
    ),
    "prune": Command(
        "list what no run refers to, or delete it", "[delete=yes] [artifacts=DIR]", "transplantqa.store.commands:prune"
    ),
    "repair": Command(
        "mend a ledger's folder: repeated rows, damaged parts", "FOLDER", "transplantqa.store.commands:repair"
    ),
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
            return _command(arguments[0]).handler(arguments[0])(arguments[1:])
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
