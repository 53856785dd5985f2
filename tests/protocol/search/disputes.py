"""The laws of testimony and dispute (section 6), with a contradiction judged anew."""

from runs.protocol.states import State

from .between import Between, Law
from .standing import FINAL

Word = tuple[str, str]  #: an outcome and its value


def contradict(one: Word, other: Word) -> bool:
    """Opposite outcomes, or one outcome with two values, neither empty; `unknown` contradicts nothing."""
    if "unknown" in (one[0], other[0]):
        return False
    return one[0] != other[0] or ("" not in (one[1], other[1]) and one[1] != other[1])


def testimony(c: Between, ordinal: int) -> list[Word]:
    return [(word.outcome, word.value) for word in c.before.steps[ordinal].testimony]


def newly_disputed(c: Between, ordinal: int) -> bool:
    """Whether this answer is one that section 6 makes a dispute of."""
    said = (c.said.outcome, c.said.value)
    if c.status == "fenced":
        return c.was[ordinal] is State.PENDING
    if c.status == "already_settled":
        return contradict((str(c.was[ordinal]), c.before.steps[ordinal].value or ""), said)
    return c.status == "settled" and any(contradict(said, word) for word in testimony(c, ordinal))


def a_step_is_disputed_as_section_6_says(c: Between) -> bool:
    asked = getattr(c.said, "ordinal", None)
    for n, step in c.after.steps.items():
        was = c.before.steps[n].disputed
        has_said = n == asked and hasattr(c.said, "outcome")
        should_be = (was or (has_said and newly_disputed(c, n))) and not (
            n == asked and c.status == "dispute_closed"
        )
        if step.disputed != should_be:
            return False
    return True


def testimony_is_kept_until_a_dispute_is_closed(c: Between) -> bool:
    """Only a `fenced` report adds to it, its own outcome and value."""
    for n, step in c.after.steps.items():
        is_asked = getattr(c.ask, "ordinal", None) == n
        kept = [] if is_asked and c.status == "dispute_closed" else testimony(c, n)
        if is_asked and c.status == "fenced":
            kept.append((c.ask.outcome, c.ask.value))
        if [(word.outcome, word.value) for word in step.testimony] != kept:
            return False
    return True


def a_fenced_word_is_from_a_lost_claim(c: Between) -> bool:
    """Or from one whose step a lapse has put back; and all that such a claim says of an open step is."""
    if c.ask.kind != "report" or c.token.fence == 0 or c.ask.ordinal >= c.before.n_steps:
        return c.status != "fenced"
    state = c.was[c.ask.ordinal]
    is_late = not c.token.newest or (state is State.PENDING and c.before.steps[c.ask.ordinal].put_back)
    may_have_sent = state is not State.PENDING or c.ask.outcome != "rejected"
    return (c.status == "fenced") == (is_late and may_have_sent and state not in FINAL)


DISPUTES: tuple[Law, ...] = (
    a_step_is_disputed_as_section_6_says,
    testimony_is_kept_until_a_dispute_is_closed,
    a_fenced_word_is_from_a_lost_claim,
)
