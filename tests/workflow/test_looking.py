"""Looking at a study with the real snakemake: its plan, its status, its report so far."""

from test_whole_study import killed_in_the_middle


def test_the_plan_of_a_study_is_told_before_it_runs_and_again_with_measured_rates(fresh):
    before = fresh.snakemake("plan", "--nolock", "--quiet", "all")
    assert before.returncode == 0, before.stderr
    assert "still to run" in before.stdout
    assert "2 of 2 settings: a rough guess from the size of the network." in before.stdout
    assert fresh.run("calibration")["calibrate"] == 2
    after = fresh.snakemake("plan", "--nolock", "--quiet", "all")
    assert "2 of 2 settings: measured by a calibration." in after.stdout
    assert fresh.run_files() == {}


def test_a_finished_study_is_planned_as_finished_with_the_rates_of_its_runs(project):
    told = project.snakemake("plan", "--nolock", "--quiet", "all").stdout
    assert "Every training is finished." in told
    assert "2 of 2 settings: measured in finished runs." in told
    assert project.planned() == {}


def test_the_status_in_the_middle_of_a_study_tells_who_is_at_work_and_who_stopped(project):
    project.axes("adam", epochs=2000)
    target = next(target for target in project.targets() if "adam" in target)
    with killed_in_the_middle(project, target.removesuffix("/run.json")) as trainer:
        told = status_of(project)
        assert counts(told, "all") == {"done": 4, "running": 1, "missing": 1}
        assert counts(told, "sgd") == {"done": 4}
        assert "running at epoch" in told
        trainer.kill()
        trainer.wait()
        told = status_of(project)
        assert counts(told, "all") == {"done": 4, "stopped": 1, "missing": 1}
        assert "A spread is known of 1 of 2 configurations." in told


def test_a_report_of_what_has_finished_trains_nothing_and_says_what_is_missing(project):
    project.axes("sgd", seed=[0, 1, 2])
    done = project.snakemake("so_far", "--nolock", "--quiet", "all")
    assert "6 of 8 runs have finished" in done.stdout, done.stderr
    page = (project.folder / "results/tiny/so_far/report.html").read_text()
    assert "So far, with 6 of 8 planned runs finished" in page
    assert len(project.run_files()) == 6
    project.axes("sgd", seed=[0, 1])
    assert project.planned() == {}


def status_of(project) -> str:
    return project.snakemake("status", "--nolock", "--quiet", "all").stdout


def counts(page: str, row: str) -> dict[str, int]:
    """A row of the page of the status: its kinds that are not zero."""
    lines = [line.split() for line in page.splitlines()]
    kinds = next(line for line in lines if line[:2] == ["done", "diverged"])
    numbers = next(line for line in lines if line[:1] == [row])[1:]
    return {kind: int(n) for kind, n in zip(kinds, numbers, strict=True) if n != "0"}
