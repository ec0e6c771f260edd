"""What a run would do, need and cost, told before it does anything."""

from transplantqa.planning.expectations import Expectations

__all__ = ["Expectations"]
