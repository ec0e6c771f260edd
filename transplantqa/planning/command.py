"""``transplantqa plan``."""

from transplantqa.config import RunConfig
from transplantqa.errors import EXIT_OK
from transplantqa.planning.console import print_plan
from transplantqa.planning.survey import make_plan


def plan_and_show(config: RunConfig) -> int:
    """Print the plan of a composed system and return 0: also one that won't fit is a plan."""
    print_plan(make_plan(config))
    return EXIT_OK
