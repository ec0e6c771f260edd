"""The pages as a site, and the page that is made from the configurations."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_pages_build_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "index.html").is_file()


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [page.name for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in navigation] == []


def test_the_page_of_configurations_is_what_the_script_makes(tmp_path: Path) -> None:
    script = "import sys; sys.path.insert(0, 'docs'); import build_configuration as made; sys.stdout.write(made.page())"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")


def test_the_readme_links_to_files_that_exist() -> None:

    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert [target for target in targets if not (ROOT / target).exists()] == []
