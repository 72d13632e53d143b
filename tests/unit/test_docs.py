"""What the documents name is there."""

import re
from pathlib import Path

import pytest

from places import ROOT, WORKFLOW

DOCUMENTS = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*.md"))
BASES = (ROOT, WORKFLOW / "initmem")
FILE = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|smk|j2|md|svg)|(?:[\w.-]+/)+)`")
WRITTEN_BY_RUNS = ("results/", "figures/")


@pytest.mark.parametrize("document", ["README.md", *DOCUMENTS])
def test_every_file_and_folder_that_a_document_names_is_there(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    named = {name for name in FILE.findall(text) if not name.startswith(WRITTEN_BY_RUNS)}
    assert named
    assert {name for name in named if not any(Path(base, name).exists() for base in BASES)} == set()
