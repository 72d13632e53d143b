"""Quantities read as a person would say them."""

import pytest

from initmem.wording import duration, megabytes


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (61, "1 min 1 s"),
        (7260, "2 h 1 min"),
        (180000, "2 days 2 h"),
        (1e8, "1,157 days"),
    ],
)
def test_a_duration_reads_in_the_units_of_a_person(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0.4, "0 MB"), (180, "180 MB"), (1500, "1.5 GB"), (160_000, "160.0 GB")]
)
def test_a_size_reads_in_the_units_of_a_person(count, text):
    assert megabytes(count) == text
