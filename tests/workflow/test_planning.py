"""The plan of a study with the real snakemake: before its runs, with measured rates, and after."""


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
