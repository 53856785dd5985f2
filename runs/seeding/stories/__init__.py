"""What can become of a job, each in a few sentences. Every headline is reached, and what lists filter by."""

from . import cancelled, doubted, running, timed
from .story import BRIEF, LONG, Story

__all__ = ["BRIEF", "LONG", "Story", "cancelled", "doubted", "running", "timed"]
