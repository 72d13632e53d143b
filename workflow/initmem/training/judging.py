"""Judging what came of a training: here, and only here, test images are used."""

from initmem.study.outputs import Outcome, Predictions, no_predictions
from initmem.training.learner import Learner
from initmem.training.recorder import Recorder


def judge(learner: Learner, recorder: Recorder, sigma_w: float) -> Outcome:
    """What a training that has ended leaves behind: its selected and its final predictor.

    Afterwards the learner holds the selected one. Of a training that diverged there is neither.
    """
    if recorder.diverged_epoch is not None:
        return Outcome(
            status="diverged",
            history=recorder.history,
            selected_epoch=None,
            diverged_epoch=recorder.diverged_epoch,
            selected={},
            final={},
            selected_predictions=no_predictions(),
            final_predictions=no_predictions(),
            sigma_w=sigma_w,
        )
    final, final_predictions = _accuracies(learner)
    selected, selected_predictions = final, final_predictions
    if recorder.best["epoch"] != recorder.history[-1]["epoch"]:
        learner.model.load_state_dict(recorder.best["model"])
        selected, selected_predictions = _accuracies(learner)
    return Outcome(
        status="done",
        history=recorder.history,
        selected_epoch=recorder.best["epoch"],
        diverged_epoch=None,
        selected=selected,
        final=final,
        selected_predictions=selected_predictions,
        final_predictions=final_predictions,
        sigma_w=sigma_w,
    )


def _accuracies(learner: Learner) -> tuple[dict[str, float], Predictions]:
    """Accuracies on the three parts, in evaluation mode, and the classes given."""
    source = learner.source
    train, validation, test = (
        learner.evaluate(part) for part in (source.train, source.validation, source.test)
    )
    accuracies = {
        "train_acc": train.accuracy,
        "val_acc": validation.accuracy,
        "test_acc": test.accuracy,
    }
    return accuracies, Predictions(validation.classes, test.classes)
