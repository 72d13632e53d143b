"""Small archives in the layout of the official CIFAR-10, with random images."""

import io
import pickle
import tarfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from initmem.files import file_sha256

BATCHES = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")


def batch(key: int, count: int = 20) -> dict:
    """What a batch holds, as the official ones do: images as rows of bytes, labels as a list."""
    rows = np.random.default_rng(key).integers(0, 256, (count, 3072), dtype=np.uint8)
    labels = (np.arange(count) % 10).tolist()
    return {"batch_label": "some", "labels": labels, "data": rows}


def pickled(batch: dict) -> bytes:
    """A batch as Python 2 pickled it: its texts are strings of bytes."""
    content = pickle.dumps(batch, protocol=2)
    for key in batch:
        length = len(key).to_bytes(4, "little")
        content = content.replace(b"X" + length + key.encode(), b"T" + length + key.encode())
    return content


def write_archive(path: Path, changes: Mapping[str, bytes | None] | None = None) -> str:
    """Write an archive of 100 training and 20 test images; its SHA-256.

    `changes` replaces the bytes of a batch by name, or leaves it out for None.
    """
    contents = {name: pickled(batch(key)) for key, name in enumerate(BATCHES)}
    contents["batches.meta"] = pickle.dumps(
        {"label_names": [str(i) for i in range(10)]}, protocol=2
    )
    with tarfile.open(path, "w:gz") as archive:
        for name, content in (contents | dict(changes or {})).items():
            if content is not None:
                member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return file_sha256(path)
