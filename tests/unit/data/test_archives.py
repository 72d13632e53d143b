"""Archives: opened only after their checksum held, read image by image as others read them."""

import os
import pickle
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest
from torchvision.datasets import CIFAR10

from archive import BATCHES, batch, pickled, write_archive
from initmem.data.archives import read_archive
from initmem.data.arrays import Arrays, load, prepare
from initmem.errors import UserError
from initmem.files import file_sha256
from initmem.study.catalogue import DATASETS
from places import SHARED
from support import small_run

FACTS = DATASETS["cifar10"].archive
MAKE_ARCHIVE = SHARED / "cifar10/make_archive.py"
"""Makes archives of real images."""


class UncheckedCIFAR10(CIFAR10):
    """torchvision's reader without its checksums of the official files."""

    train_list = [[name, None] for name in BATCHES[:-1]]  # noqa: RUF012
    test_list = [[BATCHES[-1], None]]  # noqa: RUF012
    meta = {"filename": "batches.meta", "key": "label_names", "md5": None}  # noqa: RUF012


class Hostile:
    """A pickle that would run a command when opened."""

    def __reduce__(self):
        return os.mkdir, ("opened",)


def read(path, sha256: str):
    return read_archive(path, sha256, FACTS)


def assert_read_as_by_torchvision(archive: Path, arrays: Arrays) -> None:
    with tarfile.open(archive) as content:
        content.extractall(archive.parent, filter="data")
    for is_train in (True, False):
        theirs = UncheckedCIFAR10(archive.parent, train=is_train)
        mine = arrays["official_test"] != is_train
        assert (arrays["images"][mine].transpose(0, 2, 3, 1) == theirs.data).all()
        assert arrays["labels"][mine].tolist() == theirs.targets


def test_images_and_labels_are_those_that_torchvision_reads(tmp_path):
    path = tmp_path / "a.tar.gz"
    assert_read_as_by_torchvision(path, read(path, write_archive(path)))


@pytest.mark.skipif(not MAKE_ARCHIVE.exists(), reason=f"{MAKE_ARCHIVE} is not there")
def test_real_images_are_those_that_torchvision_reads_too(tmp_path):
    path = tmp_path / "real.tar.gz"
    command = [sys.executable, str(MAKE_ARCHIVE), str(path), "--train", "500", "--test", "100"]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    arrays = read(path, file_sha256(path))
    assert_read_as_by_torchvision(path, arrays)
    assert np.bincount(arrays["labels"]).tolist() == [60] * 10
    brightness = arrays["images"].mean(axis=(0, 2, 3)) / 255
    assert brightness == pytest.approx([0.49, 0.48, 0.45], abs=0.03)


def test_a_prepared_archive_is_split_in_the_shares_of_the_official_one(tmp_path):
    sha256 = write_archive(tmp_path / "a.tar.gz")
    arrays, manifest = tmp_path / "cifar10.npz", tmp_path / "cifar10.json"
    prepare("cifar10", sha256, tmp_path / "a.tar.gz", arrays, manifest)
    run = small_run(dataset="cifar10", data_sha256=sha256, subset=80)
    data = load(arrays, run)
    sizes = [len(part.labels) for part in (data.train, data.validation, data.test)]
    assert sizes == [80, 20, 20]
    assert np.bincount(data.train.labels).tolist() == [8] * 10
    assert data.train.images.shape == (80, 3, 32, 32)


def test_more_training_images_than_there_are_is_told_with_the_largest_subset(tmp_path):
    sha256 = write_archive(tmp_path / "a.tar.gz")
    arrays, manifest = tmp_path / "cifar10.npz", tmp_path / "cifar10.json"
    prepare("cifar10", sha256, tmp_path / "a.tar.gz", arrays, manifest)
    run = small_run(dataset="cifar10", data_sha256=sha256, subset=None)
    with pytest.raises(UserError, match="set subset to 80 or less"):
        load(arrays, run)


@pytest.mark.parametrize("position", [0.1, 0.5, 0.9])
def test_a_flipped_byte_is_found_before_anything_is_opened(tmp_path, position):
    path = tmp_path / "a.tar.gz"
    sha256 = write_archive(path)
    content = bytearray(path.read_bytes())
    content[int(len(content) * position)] ^= 1
    path.write_bytes(content)
    with pytest.raises(UserError, match=f"expected is {sha256}; delete it"):
        read(path, sha256)


def test_a_hostile_pickle_is_refused_by_the_checksum_and_even_under_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good = write_archive(tmp_path / "good.tar.gz")
    path = tmp_path / "hostile.tar.gz"
    own = write_archive(path, {"data_batch_3": pickle.dumps(Hostile())})
    with pytest.raises(UserError, match="expected is"):
        read(path, good)
    with pytest.raises(UserError, match="'cifar-10-batches-py/data_batch_3' cannot be read"):
        read(path, own)
    assert not (tmp_path / "opened").exists()


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"no pickle",
        pickled({"labels": [0]}),
        pickled(batch(0) | {"labels": [1, 2]}),
        pickled(batch(0) | {"data": np.zeros(5, np.uint8)}),
    ],
)
def test_a_missing_or_broken_batch_is_named(tmp_path, content):
    path = tmp_path / "a.tar.gz"
    sha256 = write_archive(path, {"test_batch": content})
    with pytest.raises(UserError, match="cifar-10-batches-py/test_batch"):
        read(path, sha256)


def test_something_else_than_a_tar_file_is_told_in_one_line(tmp_path):
    path = tmp_path / "a.tar.gz"
    path.write_bytes(b"<html>not here</html>")
    with pytest.raises(UserError, match="cannot be read"):
        read(path, file_sha256(path))


def test_a_missing_archive_is_named_with_the_command_that_brings_it(tmp_path):
    with pytest.raises(UserError, match=r"is missing: `snakemake .*` brings it"):
        read(tmp_path / "a.tar.gz", "0" * 64)
