"""Errors that a user can mend: shown as one line, never as a traceback."""


class UserError(Exception):
    """A mistake in the configuration, a file or a request; the text names it and the remedy."""


class Interrupted(Exception):
    """A training stopped early on request, its state saved; the text says where it stopped."""


class LeaseLost(Exception):
    """Another process has taken over the run; nothing more may be written here."""
