"""The one way in which a training refuses: a sentence for people, in both languages."""


class Refused(Exception):
    """Nothing can be trained from this. `id` is stable, for programs."""

    def __init__(self, id: str, en: str, zh: str) -> None:
        super().__init__(en)
        self.id, self.en, self.zh = id, en, zh


class Stopped(Exception):
    """Asked to end before there was anything to keep."""


def why(error: Exception) -> str:
    """What is wrong with a file, without its path."""
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__)[:100]
