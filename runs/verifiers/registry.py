"""The installation's own verifiers, by name: CANCELBOARD_VERIFIERS, such as `bank=house.bank:look_up`."""

from collections.abc import Callable
from functools import cache
from importlib import import_module

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from .finding import Finding, Question

Function = Callable[[Question], Finding]


def names() -> list[str]:
    return sorted(settings.CANCELBOARD_VERIFIERS)


def registered() -> dict[str, Function]:
    """All of them. Raises ImproperlyConfigured for one that can't be imported."""
    return {name: _found(name, place) for name, place in settings.CANCELBOARD_VERIFIERS.items()}


@cache
def _found(name: str, place: str) -> Function:
    module, _, function = place.partition(":")
    try:
        found = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ImproperlyConfigured(f"CANCELBOARD_VERIFIERS: {name}={place}: {error}.") from error
    if not callable(found):
        raise ImproperlyConfigured(f"CANCELBOARD_VERIFIERS: {name}={place} is no function.")
    return found  # type: ignore[no-any-return]
