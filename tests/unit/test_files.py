"""A file's name never stands for half of it."""

import json
from math import nan

import pytest

from initmem.errors import UserError
from initmem.files import atomic_write, csv_bytes, json_bytes, read_json, remove_temporaries


def test_a_written_file_is_whole_and_leaves_nothing_beside_it(tmp_path):
    with atomic_write(tmp_path / "deep" / "a.txt") as file:
        file.write(b"whole")
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["a.txt"]
    assert (tmp_path / "deep" / "a.txt").read_bytes() == b"whole"


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), atomic_write(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_without_permission_a_complete_file_takes_no_name(tmp_path):
    def refuse():
        raise PermissionError

    with pytest.raises(PermissionError), atomic_write(tmp_path / "a.txt", refuse) as file:
        file.write(b"whole")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_writer_left_is_removed_and_nothing_else(tmp_path):
    (tmp_path / ".a.txt.12ab34cd.part").touch()
    (tmp_path / "a.txt").touch()
    remove_temporaries(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_json_is_strict():
    assert json.loads(json_bytes({"a": None})) == {"a": None}
    with pytest.raises(ValueError, match="JSON"):
        json_bytes({"a": nan})


def test_csv_writes_exact_numbers_and_leaves_gaps_empty():
    rows = [{"a": 1, "b": 0.1}, {"a": None, "b": nan}, {"a": "x,y", "b": 1e-17}]
    assert csv_bytes(rows, ("a", "b")) == b'a,b\n1,0.1\n,\n"x,y",1e-17\n'


@pytest.mark.parametrize("content", ["", "{", "{} {}"])
def test_unreadable_json_is_named_with_the_remedy(tmp_path, content):
    path = tmp_path / "run.json"
    path.write_text(content)
    with pytest.raises(UserError, match=r"run\.json cannot be read .*delete it"):
        read_json(path)
