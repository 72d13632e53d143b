"""What decides how fast a run trains; apart from costs, since every parse of the workflow asks."""

from collections.abc import Iterable
from dataclasses import dataclass

from initmem.study.run import Run


@dataclass(frozen=True)
class Setting:
    """What decides how fast a run trains."""

    model: str
    width: int
    dataset: str
    optimizer: str
    batch_size: int

    @classmethod
    def of(cls, run: Run) -> "Setting":
        """The setting of a run."""
        return cls(run.model, run.width, run.dataset, run.optimizer, run.batch_size)

    @property
    def name(self) -> str:
        """A readable name, fit for a file."""
        return f"{self.dataset}_{self.model}-w{self.width}_{self.optimizer}_b{self.batch_size}"


def settings_of(runs: Iterable[Run]) -> dict[str, Run]:
    """The settings of these runs by name, each with a run that stands for it."""
    return {Setting.of(run).name: run for run in runs}
