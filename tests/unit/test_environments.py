"""One source of pins: what conda installs is what pip installs; profiles agree on triggers."""

import re

import pytest
import yaml

from places import ROOT

CONDA_NAMES = {"torch": "pytorch"}


def pip_pins(name: str) -> dict[str, str]:
    lines = (ROOT / "envs" / name).read_text().splitlines()
    pins = [re.fullmatch(r"([A-Za-z0-9_.-]+)==(\S+)", line) for line in lines]
    return {pin[1].lower(): pin[2] for pin in pins if pin}


@pytest.mark.parametrize("environment", ["train.yaml", "analysis.yaml"])
def test_conda_environments_pin_what_pip_pins(environment):
    expected = {
        CONDA_NAMES.get(name, name): version
        for name, version in pip_pins("requirements.txt").items()
    }
    listed = yaml.safe_load((ROOT / "envs" / environment).read_text())["dependencies"]
    pins = dict(entry.split("=") for entry in listed)
    del pins["python"]
    assert pins
    assert pins == {name: expected[name] for name in pins}


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-test.txt", "constraints.txt"])
def test_every_requirement_is_pinned(name):
    lines = (ROOT / "envs" / name).read_text().splitlines()
    loose = [line for line in lines if not re.match(r"^(#|-[cr] |[A-Za-z0-9_.-]+==\S+$)", line)]
    assert loose == []


def test_all_profiles_have_the_same_rerun_triggers():
    triggers = {
        tuple(yaml.safe_load(path.read_text())["rerun-triggers"])
        for path in (ROOT / "profiles").glob("*/*.yaml")
    }
    assert triggers == {("mtime", "params")}


def test_no_profile_keeps_what_a_failed_job_left():
    for path in (ROOT / "profiles").glob("*/*.yaml"):
        assert "keep-incomplete" not in yaml.safe_load(path.read_text())
