"""Data: prepared once, checked before use, split the same way for everyone."""

import json
import shutil

import numpy as np
import pytest

from initmem.data.arrays import arrays_checksum, load, prepare, split_indices
from initmem.errors import UserError
from initmem.study.catalogue import DATASETS
from initmem.study.run import Run
from support import small_run

WHOLE = {"subset": None}


def parts(run: Run, arrays) -> tuple[np.ndarray, ...]:
    with np.load(arrays) as archive:
        return split_indices(archive["labels"], archive["official_test"], run)


def test_the_parts_have_the_stated_sizes_and_share_no_image(digits):
    train, validation, test = parts(small_run(**WHOLE), digits)
    assert (len(train), len(validation), len(test)) == (700, 400, 697)
    assert len(np.union1d(np.union1d(train, validation), test)) == 1797


def test_training_and_validation_are_class_balanced(digits):
    dataset = load(digits, small_run(**WHOLE))
    assert np.bincount(dataset.train.labels).tolist() == [70] * 10
    assert np.bincount(dataset.validation.labels).tolist() == [40] * 10


def test_all_seeds_scales_and_trainings_share_one_split(digits):
    first = parts(small_run(), digits)
    for other in (small_run(seed=7), small_run(init_scale=8), small_run(optimizer="adam")):
        for mine, theirs in zip(first, parts(other, digits), strict=True):
            assert (mine == theirs).all()


def test_another_split_is_another_choice_of_images(digits):
    assert (parts(small_run(), digits)[2] != parts(small_run(split=1), digits)[2]).any()


def test_subsets_are_balanced_nested_and_leave_validation_and_test_alone(digits):
    small, large = parts(small_run(subset=100), digits), parts(small_run(subset=200), digits)
    assert set(small[0]) < set(large[0])
    assert (small[1] == large[1]).all()
    assert (small[2] == large[2]).all()
    assert np.bincount(load(digits, small_run(subset=100)).train.labels).tolist() == [10] * 10


def test_an_official_test_set_is_the_test_set():
    labels = np.tile(np.arange(10, dtype=np.uint8), 200)
    official = np.arange(2000) >= 1500
    train, validation, test = split_indices(labels, official, small_run(**WHOLE))
    assert test.tolist() == list(range(1500, 2000))
    assert max(train.max(), validation.max()) < 1500


def test_preparing_writes_plain_arrays_and_says_what_they_are(digits):
    manifest = json.loads(digits.with_suffix(".json").read_text())
    with np.load(digits, allow_pickle=False) as archive:
        arrays = dict(archive)
    assert arrays_checksum(arrays) == manifest["sha256"] == DATASETS["digits"].sha256
    assert manifest["arrays"]["images"] == ["uint8", 1797, 1, 8, 8]


def test_preparing_twice_gives_the_same_bytes(digits, tmp_path):
    again = tmp_path / "again.npz"
    prepare("digits", DATASETS["digits"].sha256, None, again, tmp_path / "again.json")
    assert again.read_bytes() == digits.read_bytes()


def test_other_arrays_than_expected_are_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(UserError, match=r"set data\.digits\.sha256 in config\.yaml"):
        prepare("digits", "0" * 64, None, tmp_path / "digits.npz", tmp_path / "digits.json")
    assert list(tmp_path.iterdir()) == []


def test_the_checksum_sees_names_types_shapes_and_contents():
    base = {"a": np.zeros((2, 3), np.uint8)}
    others = [
        {"b": base["a"]},
        {"a": base["a"].astype(np.int8)},
        {"a": base["a"].reshape(3, 2)},
        {"a": base["a"] + np.uint8(1)},
    ]
    assert len({arrays_checksum(arrays) for arrays in [base, *others]}) == 5


def test_missing_data_are_named_with_the_command_that_prepares_them(tmp_path):
    with pytest.raises(UserError, match=r"digits\.npz is missing: `snakemake .*digits\.npz`"):
        load(tmp_path / "digits.npz", small_run())


@pytest.mark.parametrize("position", [0.3, 0.6])
def test_a_flipped_bit_is_found_before_training(digits, tmp_path, position):
    broken = tmp_path / "digits.npz"
    shutil.copy(digits.with_suffix(".json"), tmp_path)
    content = bytearray(digits.read_bytes())
    content[int(len(content) * position)] ^= 1
    broken.write_bytes(content)
    with pytest.raises(UserError, match=r"digits\.npz .*delete"):
        load(broken, small_run())


def test_truncated_and_pickled_files_are_refused(digits, tmp_path):
    broken = tmp_path / "digits.npz"
    shutil.copy(digits, broken)
    shutil.copy(digits.with_suffix(".json"), tmp_path)
    with broken.open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(UserError, match="cannot be read"):
        load(broken, small_run())
    np.savez(broken, images=np.array([{"a": 1}], dtype=object))
    with pytest.raises(UserError, match="cannot be read"):
        load(broken, small_run())
