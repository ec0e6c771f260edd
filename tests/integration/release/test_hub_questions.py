"""Questions from a dataset on the Hub, over HTTP with its own client, as a run asks for them."""

from pathlib import Path
from typing import Any

from benchmarks.loopback_hub_state import File, Hub, git_oid

REPO = "someone/questions"
ASKED = (
    "query,organ,theme\nMay I drive after the operation?,General,Lifestyle\nHow much should I drink?,Kidney,Nutrition\n"
)


def _offer(hub: Hub, content: bytes) -> str:
    """Put a data.csv on the Hub and return its commit."""
    hub.create(REPO, private=False)
    repository = hub.repositories[REPO]
    commit = hub.new_commit_id(REPO)
    repository.commits[commit] = {"data.csv": File(hub.keep(content), len(content), git_oid(content), lfs=False)}
    repository.branches["main"] = commit
    return commit


def test_columns_that_do_not_match_are_said_and_a_mapping_makes_them(program: Any, hub: Hub, tmp_path: Path) -> None:
    commit = _offer(hub, ASKED.encode())
    run = (
        "run",
        "experiment=baseline",
        "tracking=none",
        "questions=hub",
        f"questions.repo={REPO}",
        "limit.documents=3",
    )
    refused = program(*run, token=None)
    assert refused.returncode == 3
    assert 'there are "query", "organ", "theme"' in refused.stderr
    assert "questions.columns={text: COLUMN" in refused.stderr

    mapping = ("questions.columns={text: query, groups: organ, topics: theme}", "questions.ids=text")
    groups = "questions.group_names={Kidney: kidney, General: null}"
    done = program(*run, *mapping, groups, f"questions.revision={commit}", token=None)
    assert done.returncode == 0, done.stderr
    from transplantqa.store.run_folder import RunFolder

    (folder,) = (tmp_path / "artifacts/runs").iterdir()
    rows = RunFolder(folder).rows("questions")
    assert [(row["text"], row["groups"], row["topics"]) for row in rows] == [
        ("May I drive after the operation?", [], ["Lifestyle"]),
        ("How much should I drink?", ["kidney"], ["Nutrition"]),
    ]
