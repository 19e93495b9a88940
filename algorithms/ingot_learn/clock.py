"""The time budget. progress() drives every schedule; over() ends every loop; SIGTERM ends them early."""

import signal
import time

from . import nodes


class Clock:
    def __init__(self, minutes: float) -> None:
        self.budget = minutes * 60
        self.reserve = min(5.0, self.budget * 0.15)  # for choosing, calibrating and writing the model
        self.begun = time.monotonic()
        self.terminated = False

    def catch(self) -> None:
        """SIGTERM and Ctrl-C: end with the best so far."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)

    def _stop(self, *_) -> None:
        self.terminated = True

    def carry(self, seconds: float) -> None:
        """What an earlier run of the same training has used already; at least a tenth is left."""
        self.begun -= min(seconds, self.budget * 0.9)

    def elapsed(self) -> float:
        return time.monotonic() - self.begun

    def left(self) -> float:
        return nodes.agree(0.0 if self.terminated else max(0.0, self.budget - self.reserve - self.elapsed()))

    def over(self) -> bool:
        return self.left() <= 0


class Stretch:
    """A part of the budget for one loop: from now to the end, or for at most `seconds`."""

    def __init__(self, clock: Clock, seconds: float = float("inf")) -> None:
        self.clock, self.begun = clock, clock.elapsed()
        self.seconds = max(1e-3, min(seconds, clock.left()))

    def resume(self, used: float) -> None:
        """`used` seconds of it are gone already, in a run before."""
        self.begun -= used
        self.seconds += used

    def used(self) -> float:
        return self.clock.elapsed() - self.begun

    def over(self) -> bool:
        return self.progress() >= 1

    def progress(self) -> float:
        """0 to 1; 1 when time is up or the end was asked for."""
        done = 1.0 if self.clock.terminated else min(1.0, self.used() / self.seconds)
        return nodes.agree(done)
