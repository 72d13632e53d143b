"""Quantities as a person would say them."""


def duration(seconds: float) -> str:
    """A duration in the two units that a person would name."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    days = hours // 24
    return f"{days} days {hours % 24} h" if days < 100 else f"{days:,} days"


def megabytes(count: float) -> str:
    """A size given in MB, in the unit that a person would name."""
    return f"{count / 1000:,.1f} GB" if count >= 1000 else f"{count:,.0f} MB"
