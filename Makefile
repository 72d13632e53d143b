# Thin: makes the environment that a target needs, then calls snakemake or pytest.
# Another Python: make demo PYTHON=python3.12
# Further options of snakemake and settings of config.yaml:
#   make mini FLAGS="--configfile my.yaml" CONFIG="engine='{threads: 2}'"
PYTHON ?= python3
FLAGS :=
CONFIG :=
STUDY :=
VENV := .venv
BIN := $(VENV)/bin
RUN_READY := $(VENV)/.run-ready
TEST_READY := $(VENV)/.test-ready
CHOSEN := $(if $(STUDY)$(CONFIG),--config $(if $(STUDY),study=$(STUDY)) $(CONFIG))
PIP_INSTALL := $(BIN)/python -m pip install --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo mini study plan status so-far calibrate test lint format golden clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 18

demo: $(RUN_READY) ## the study's finding on handwritten digits: minutes on two CPU cores
	$(BIN)/snakemake $(FLAGS) --config study=demo $(CONFIG)
	@test ! -e results/demo/report.html || echo "The report is results/demo/report.html"

mini: $(RUN_READY) ## the same on an eighth of CIFAR-10: an hour and more on two CPU cores
	$(BIN)/snakemake $(FLAGS) --config study=mini $(CONFIG)
	@test ! -e results/mini/report.html || echo "The report is results/mini/report.html"

study: $(RUN_READY) ## the study that config.yaml chooses, the paper's; another: make study STUDY=name
	$(BIN)/snakemake $(FLAGS) $(CHOSEN)

plan: $(RUN_READY) ## what the study will cost; of another study: make plan STUDY=name
	@$(BIN)/snakemake plan --nolock --quiet all $(FLAGS) $(CHOSEN)

status: $(RUN_READY) ## how far the study is; of another study: make status STUDY=name
	@$(BIN)/snakemake status --nolock --quiet all $(FLAGS) $(CHOSEN)

so-far: $(RUN_READY) ## the report of what has finished; of another study: make so-far STUDY=name
	@$(BIN)/snakemake so_far --nolock --quiet all $(FLAGS) $(CHOSEN)

calibrate: $(RUN_READY) ## measure for the plan how fast the study's networks train here
	$(BIN)/snakemake calibration $(FLAGS) $(CHOSEN)

test: lint ## lint, then all tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(TEST_READY) ## ruff, snakefmt and snakemake's linter
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/snakefmt --check --compact-diff Snakefile workflow/rules
	$(BIN)/snakemake --lint

format: $(TEST_READY) ## write code in the project's format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/snakefmt Snakefile workflow/rules

golden: $(TEST_READY) ## record the golden run anew, after raising `protocol`
	$(BIN)/python tests/unit/training/golden.py

clean: ## remove the environment; results stay
	rm -rf $(VENV)

$(RUN_READY): envs/requirements.txt envs/constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is %s; name another: make PYTHON=python3.11" % sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) -r envs/requirements.txt
	@touch $@

$(TEST_READY): envs/requirements-test.txt $(RUN_READY)
	$(PIP_INSTALL) -r envs/requirements-test.txt
	@touch $@
