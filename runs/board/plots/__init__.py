"""The plots of Insights: from counts to shapes, a table and a sentence each. Dashed is not established, solid
is; hatched tells the second of two solid ones apart, so that no plot needs its colours.

    ages         unknown outcomes by age            systems      by system
    over_time    by hour or day                     shared       how lengths of time are said

Times are gaps where nothing was counted yet, never zero. What goes on counts in a percentile as lasting at
least as long as it surely has.
"""

from .ages import age, backlog
from .over_time import confirm, confirm_times, entries, flow, refused
from .shared import lasted, so_far
from .systems import share, systems

__all__ = [
    "age",
    "backlog",
    "confirm",
    "confirm_times",
    "entries",
    "flow",
    "lasted",
    "refused",
    "share",
    "so_far",
    "systems",
]
