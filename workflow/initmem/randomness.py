"""Random streams, each named by what it is for; none is carried from one step to the next.

Every stream is NumPy's Philox with a 128-bit key hashed from (seed, purpose, epoch). So a resumed
training needs no generator state, all init scales of a seed see the same draw and the same order,
and a CPU and a GPU see the same numbers. (torch's CPU generator keeps 32 bits of its seed only.)
"""

import hashlib

import numpy as np


def stream(seed: int, purpose: str, epoch: int = 0) -> np.random.Generator:
    """The generator for one purpose in one epoch of one seed; equal arguments, equal numbers."""
    digest = hashlib.sha256(f"{seed}/{purpose}/{epoch}".encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "little")))


def epoch_order(seed: int, epoch: int, size: int) -> np.ndarray:
    """The order in which an epoch visits its training images: int64, shape (size,)."""
    return stream(seed, "order", epoch).permutation(size)
