"""Archives of the CIFAR family: batches of images as pickles in a tar file.

A pickle can run code, so nothing is opened before the archive's checksum held, and even then only
what arrays and plain values are made of is let in.
"""

import io
import pickle
import tarfile
import warnings
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from initmem.errors import UserError
from initmem.files import file_sha256
from initmem.study.catalogue import ArchiveFacts

_HARMLESS = {
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("_codecs", "encode"),
}


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _HARMLESS:
            raise pickle.UnpicklingError(f"it wants {module}.{name}")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def read_archive(path: Path, sha256: str, facts: ArchiveFacts) -> dict[str, np.ndarray]:
    """All images of an archive, training batches first, then the test batch.

    Returns `images` uint8 (n, 3, 32, 32), `labels` uint8 (n,) and `official_test` bool (n,).
    Raises UserError when the archive is missing, has another checksum, lacks a batch, or holds
    something else than images under its name.
    """
    if not path.exists():
        raise UserError(f"{path} is missing: `snakemake {path}` brings it")
    found = file_sha256(path)
    if found != sha256:
        raise UserError(
            f"{path} has the SHA-256 {found}, expected is {sha256}; delete it and start the same"
            " command again"
        )
    train = [_read_batch(path, name, facts) for name in facts.train_files]
    test = _read_batch(path, facts.test_file, facts)
    images, labels = zip(*train, test, strict=True)
    count = sum(map(len, labels))
    return {
        "images": np.concatenate(images),
        "labels": np.concatenate(labels),
        "official_test": np.arange(count) >= count - len(test[1]),
    }


def _read_batch(path: Path, name: str, facts: ArchiveFacts) -> tuple[np.ndarray, np.ndarray]:
    member = f"{facts.folder}/{name}"
    try:
        with tarfile.open(path) as archive:
            file = archive.extractfile(member)
            if file is None:
                raise KeyError(member)
            batch = _unpickle(io.BytesIO(file.read()))
        images = np.asarray(batch[b"data"], np.uint8).reshape(-1, 3, 32, 32)
        labels = np.asarray(batch[facts.label_key.encode()], np.uint8)
    except KeyError:
        raise UserError(f"{path} lacks '{member}' or what belongs in it; get it anew") from None
    except (tarfile.TarError, EOFError, OSError, ValueError, pickle.UnpicklingError) as error:
        raise UserError(f"{path}: '{member}' cannot be read ({error}); get it anew") from None
    if len(images) != len(labels):
        raise UserError(f"{path}: '{member}' has {len(images)} images and {len(labels)} labels")
    return images, labels


def _unpickle(file: BinaryIO) -> dict[bytes, Any]:
    with warnings.catch_warnings():
        # Pickles of the time before Python 3 spell a data type in a way that NumPy now deprecates.
        warnings.simplefilter("ignore")
        return _ArrayUnpickler(file, encoding="bytes").load()
