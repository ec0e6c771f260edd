"""How the next token is chosen: the same few parameters with the same meaning on every backend."""

from dataclasses import asdict, dataclass, replace

from transplantqa.models.protocols import Identity


@dataclass(frozen=True, slots=True)
class Sampling:
    """Temperature 0 is greedy: ``top_p`` and ``seed`` change nothing then. No other truncation or penalty is used."""

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0

    def identity(self) -> Identity:
        """Only what can change a reply: a greedy choice has no seed."""
        return {"temperature": 0.0} if self.temperature == 0 else asdict(self)

    def for_draw(self, draw: int) -> "Sampling":
        """Return the sampling of one of several independent replies to a prompt."""
        return replace(self, seed=(self.seed + draw) % 2**32)
