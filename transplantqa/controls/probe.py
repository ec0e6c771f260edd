"""Asks a sample of a run's cells again: silent ones with their whole document, answered ones without it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from transplantqa.controls.drawing import Drawn, draw, thinned
from transplantqa.controls.reopened import Reopened, answer_again, judge_again, retrieve_again
from transplantqa.controls.silence import FLOORS, AnsweredCell, RevealedPair, Silence, SilentCell, Stratum
from transplantqa.controls.windows import window_evidence, windows
from transplantqa.generation.support import support
from transplantqa.records import SILENT_OUTCOMES, Answer, Evidence, Outcome
from transplantqa.retrieval.controls import NoEvidence, Shuffled
from transplantqa.retrieval.protocols import Retriever
from transplantqa.stages import CellKey
from transplantqa.workshop import Workshop

WHOLE = "whole_document"
SEPARATOR = "\x1f"


@dataclass(frozen=True, slots=True)
class ProbeSize:
    """How much is asked again.

    Args:
        silent_cells: silent cells drawn.
        answered_cells: answered cells drawn.
        pairs_per_cell: pairs judged of each recovered answer, with the run's answers of other institutions.
        window_tokens: the most tokens of a document shown at once.
        seed: of every draw.
    """

    silent_cells: int
    answered_cells: int
    pairs_per_cell: int
    window_tokens: int
    seed: int


def probe(shop: Workshop, reopened: Reopened, size: ProbeSize, gold_silent: Mapping[CellKey, bool]) -> Silence:
    """Draw cells of a run and ask them again; all work goes through the ledger, so that a second probe is cheap.

    Args:
        shop: where it is done.
        reopened: the run.
        size: how much.
        gold_silent: what people found of cells, where they looked.
    """
    silent, answered = _drawn(reopened, size)
    again = _whole_documents(shop, reopened, [one.item for one in silent], size.window_tokens)
    strata = {cell: _stratum(reopened, cell) for cell in reopened.answers if cell in reopened.evidence}
    probed = [
        Drawn(SilentCell(*one.item, strata[one.item], *again[one.item], gold_silent.get(one.item)), one.probability)
        for one in silent
    ]
    floors = {name: _floor(shop, reopened, name, [one.item for one in answered], size.seed) for name in FLOORS}
    checked = [Drawn(_answered(reopened, one.item, floors), one.probability) for one in answered]
    reopened.generator.close()
    return Silence(probed, checked, _reveal(shop, reopened, probed, size), _cells(reopened))


def _drawn(reopened: Reopened, size: ProbeSize) -> tuple[list[Drawn[CellKey]], list[Drawn[CellKey]]]:
    """Draw silent and answered cells by route, group and institution."""
    sources = reopened.readings.sources
    with_text = {name for name, one in sources.items() if any(section.text.strip() for section in one.sections)}
    by_name = {SEPARATOR.join(cell): cell for cell in reopened.answers if cell[1] in with_text}
    strata = {name: _stratum(reopened, cell) for name, cell in by_name.items()}
    kinds = ((SILENT_OUTCOMES, size.silent_cells), (frozenset({Outcome.OK}), size.answered_cells))
    silent, answered = (
        draw(
            {name: cell for name, cell in by_name.items() if reopened.answers[cell].outcome in outcomes},
            strata,
            count,
            size.seed,
        )
        for outcomes, count in kinds
    )
    return silent, answered


def _stratum(reopened: Reopened, cell: CellKey) -> Stratum:
    evidence, document = reopened.evidence[cell], reopened.readings.sources[cell[1]].document
    route = str(Outcome.EMPTY_RETRIEVAL) if evidence.outcome is Outcome.EMPTY_RETRIEVAL else evidence.route
    return Stratum(route, document.group, document.institution)


def _whole_documents(
    shop: Workshop, reopened: Reopened, cells: Sequence[CellKey], window_tokens: int
) -> dict[CellKey, tuple[Answer, int]]:
    """Ask each cell with its document's windows, in reading order, until one answers; return that and the windows."""
    readings = reopened.readings
    cut = {name: windows(readings.sources[name], window_tokens) for name in {cell[1] for cell in cells}}
    found: dict[CellKey, tuple[Answer, int]] = {}
    failed: dict[CellKey, Answer] = {}
    for number in range(max((len(parts) for parts in cut.values()), default=0)):
        waiting = [cell for cell in cells if number < len(cut[cell[1]]) and not _answered_by(found.get(cell))]
        asked = [
            (readings.questions[cell[0]], window_evidence(readings.questions[cell[0]], cell[1], cut[cell[1]][number]))
            for cell in waiting
        ]
        variant = f"{WHOLE}/{number + 1}"
        for cell, answer in answer_again(shop, reopened.generator, asked, readings.sections, variant).items():
            found[cell] = (answer, len(cut[cell[1]]))
            if answer.outcome is not Outcome.OK and answer.outcome not in SILENT_OUTCOMES:
                failed[cell] = answer
    unsure = {cell: failed[cell] for cell, one in found.items() if cell in failed and not _answered_by(one)}
    return {cell: (unsure.get(cell, answer), count) for cell, (answer, count) in found.items()}


def _answered_by(one: tuple[Answer, int] | None) -> bool:
    return one is not None and one[0].outcome is Outcome.OK


def _floor(shop: Workshop, reopened: Reopened, name: str, cells: Sequence[CellKey], seed: int) -> dict[CellKey, Answer]:
    """Answer cells from evidence that isn't their document's."""
    if not cells:
        return {}
    if name == "shuffled" and len(reopened.readings.sources) < 2:
        return {}
    retriever: Retriever = NoEvidence() if name == "none" else Shuffled(of=reopened.retriever, seed=seed)
    evidence: Mapping[CellKey, Evidence] = retrieve_again(shop, retriever, cells, reopened.readings)
    asked = [(reopened.readings.questions[cell[0]], one) for cell, one in evidence.items()]
    return answer_again(shop, reopened.generator, asked, reopened.readings.sections, f"floor/{name}")


def _answered(reopened: Reopened, cell: CellKey, floors: Mapping[str, Mapping[CellKey, Answer]]) -> AnsweredCell:
    sections = reopened.readings.sources[cell[1]].sections
    texts = [text for section in sections for text in (*section.heading_path, section.text)]
    said: dict[str, tuple[bool, bool] | None] = {}
    for name, answers in floors.items():
        answer = answers.get(cell)
        decided = answer is not None and (answer.outcome is Outcome.OK or answer.outcome in SILENT_OUTCOMES)
        given = answer is not None and answer.outcome is Outcome.OK
        said[name] = (given, given and support(answer.text, texts).supported) if decided and answer else None
    return AnsweredCell(*cell, support(reopened.answers[cell].text, texts).supported, said)


def _reveal(
    shop: Workshop, reopened: Reopened, probed: Sequence[Drawn[SilentCell]], size: ProbeSize
) -> list[RevealedPair]:
    """Judge recovered answers against the run's answers of other institutions to the same question."""
    answering: dict[str, list[str]] = defaultdict(list)
    for (question_id, document_id), answer in reopened.answers.items():
        if answer.outcome is Outcome.OK and document_id in reopened.readings.sources:
            answering[question_id].append(document_id)
    asked, weights = [], {}
    for one in probed:
        cell = one.item
        if not cell.found:
            continue
        own = reopened.readings.sources[cell.document_id].document.institution
        others = [
            name for name in answering[cell.question_id] if reopened.readings.sources[name].document.institution != own
        ]
        taken, probability = thinned(others, size.pairs_per_cell, size.seed, f"{cell.question_id}\n{cell.document_id}")
        for name in taken:
            sides = (
                replace(cell.again, variant=WHOLE),
                replace(reopened.answers[cell.question_id, name], variant=WHOLE),
            )
            a, b = sorted(sides, key=lambda answer: answer.document_id)
            asked.append((reopened.readings.questions[cell.question_id], a, b))
            weights[cell.question_id, a.document_id, b.document_id] = one.weight / probability
    judged = judge_again(shop, reopened.judge, asked)
    return [RevealedPair(one, weights[one.question_id, one.document_a, one.document_b]) for one in judged]


def _cells(reopened: Reopened) -> dict[str, tuple[int, int]]:
    """Count answered and silent cells of each question."""
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for (question_id, document_id), answer in reopened.answers.items():
        if document_id in reopened.readings.sources:
            found[question_id][0] += answer.outcome is Outcome.OK
            found[question_id][1] += answer.outcome in SILENT_OUTCOMES
    return {name: (answered, silent) for name, (answered, silent) in found.items()}
