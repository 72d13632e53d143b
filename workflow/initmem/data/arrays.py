"""Data: prepared once into plain arrays, split by hash, read by trainings without a network."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from initmem.data.archives import read_archive
from initmem.errors import UserError
from initmem.files import atomic_write, read_json
from initmem.study.catalogue import DATASETS, DatasetFacts
from initmem.study.run import Run

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Part:
    """Images, uint8 (n, channels, size, size), and their classes, uint8 (n,)."""

    images: np.ndarray
    labels: np.ndarray


@dataclass(frozen=True)
class Dataset:
    """The three parts that a training uses: train, validation and test."""

    train: Part
    validation: Part
    test: Part


def digits() -> Arrays:
    """scikit-learn's handwritten digits, 1,797 images of 8x8 in 17 shades of grey.

    The shades 0 to 16 are spread over 0 to 240. The source has no test set of its own.
    """
    from sklearn.datasets import load_digits  # a second to import, and only this source needs it

    source = load_digits()
    images = (source.images * 15).astype(np.uint8)[:, np.newaxis]
    labels = source.target.astype(np.uint8)
    return {"images": images, "labels": labels, "official_test": np.zeros(len(labels), bool)}


READERS: dict[str, Callable[[], Arrays]] = {"digits": digits}
"""How the data sets are read that come with a library instead of an archive."""


def arrays_checksum(arrays: Arrays) -> str:
    """SHA-256 over names, types, shapes and contents, whatever the file that holds them."""
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def prepare(
    dataset: str,
    expected_sha256: str,
    archive: Path | None,
    arrays_file: Path,
    manifest_file: Path,
) -> None:
    """Write a data set's arrays, and a manifest that says what they are and what pins them.

    `archive` is the file that the images come from, None for data that ship with a library.
    Raises UserError when the source is not the one that the study was planned for.
    """
    facts = DATASETS[dataset].archive
    if facts:
        arrays = read_archive(archive, expected_sha256, facts)
    else:
        arrays = READERS[dataset]()
        _check_arrays(dataset, arrays, expected_sha256)
    manifest = {
        "dataset": dataset,
        "source_sha256": expected_sha256,
        "sha256": arrays_checksum(arrays),
        "arrays": {name: [array.dtype.name, *array.shape] for name, array in arrays.items()},
    }
    with atomic_write(arrays_file) as file:
        np.savez(file, **arrays)
    with atomic_write(manifest_file) as file:
        file.write((json.dumps(manifest, indent=2) + "\n").encode())


def _check_arrays(dataset: str, arrays: Arrays, expected_sha256: str) -> None:
    found = arrays_checksum(arrays)
    if found != expected_sha256:
        raise UserError(
            f"data set '{dataset}': the prepared arrays have the checksum {found}, expected is"
            f" {expected_sha256}; if these are the data you mean, set data.{dataset}.sha256 in"
            " config.yaml to the first (trainings then get new ids)"
        )


def split_indices(
    labels: np.ndarray, official_test: np.ndarray, run: Run
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices of the training, validation and test images: int64, sorted, disjoint.

    Within each class, images are ordered by a hash of their index and the number of the split;
    the first go to training, the next to validation. Where the source names no test set, the rest
    is the test set. A subset takes the first of the training images, so subsets are nested; of a
    smaller archive training and validation have the same shares as of the official one.
    Depends on nothing but the labels and the run's data values: all seeds share it.
    Raises UserError when there are fewer training images than the run needs.
    """
    facts = DATASETS[run.dataset]
    has_test = bool(official_test.any())
    train, validation, rest = [], [], []
    for label in range(facts.classes):
        members = np.flatnonzero((labels == label) & ~official_test)
        ordered = sorted(members, key=lambda index: _split_key(run, int(index)))
        train_end, validation_end = _cuts(len(ordered), facts, has_test)
        kept = run.train_size // facts.classes
        if kept > train_end:
            raise UserError(
                f"the data hold {train_end} training images of class {label}, the run needs {kept};"
                f" set subset to {train_end * facts.classes} or less"
            )
        train += ordered[:kept]
        validation += ordered[train_end:validation_end]
        rest += ordered[validation_end:]
    test = np.flatnonzero(official_test) if has_test else np.sort(rest)
    return np.sort(train), np.sort(validation), test


def _cuts(count: int, facts: DatasetFacts, has_test: bool) -> tuple[int, int]:
    """Where training and validation end among the `count` ordered images of a class.

    Without a test set of its own a source is cut at the stated sizes, and the rest is for testing.
    """
    stated = facts.train // facts.classes, (facts.train + facts.validation) // facts.classes
    if not has_test:
        return stated
    return count * stated[0] // stated[1], count


def _split_key(run: Run, index: int) -> bytes:
    return hashlib.sha256(f"{run.dataset}/{run.split}/{index}".encode()).digest()


def load(arrays_file: Path, run: Run) -> Dataset:
    """The data of a run from prepared arrays and the manifest beside them: checked, then split.

    Raises UserError when a file is missing, unreadable or of other data.
    """
    manifest_file = arrays_file.with_suffix(".json")
    remedy = f"delete {arrays_file} and start the same command again"
    for file in (arrays_file, manifest_file):
        if not file.exists():
            raise UserError(f"{file} is missing: `snakemake {arrays_file}` prepares it")
    manifest = read_json(manifest_file)
    try:
        with np.load(arrays_file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        pins = manifest["sha256"], manifest["source_sha256"]
    except Exception as error:
        raise UserError(f"{arrays_file} cannot be read ({error}); {remedy}") from None
    if pins != (arrays_checksum(arrays), run.values()["data_sha256"]):
        raise UserError(f"{arrays_file} does not hold the arrays of '{run.arrays_id}'; {remedy}")
    images, labels = arrays["images"], arrays["labels"]
    parts = split_indices(labels, arrays["official_test"], run)
    return Dataset(*(Part(images[index], labels[index]) for index in parts))
