"""What frames every page: who is here, where they can go, the zone and theme they chose. A context
processor; and the middleware that shows times in the reader's zone."""

from functools import cache, cached_property
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import sync_and_async_middleware
from django.utils.translation import gettext as _

from runs.permissions import Action
from runs.queries import approvals, trail, verify_queue

from .door import reader_of
from .shapes import NavGroup, NavItem, Person

COUNTED = 99  #: in the rail, "99+" is enough
THEMES = ("light", "dark")


class Shell:
    """Read only where a template prints it: a part of a page pays for no rail, and an error page may have no
    user, or no database, to ask."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    @property
    def _user(self) -> Any:
        user = getattr(self._request, "user", None)
        return user if user is not None and user.is_authenticated else None

    @property
    def me(self) -> dict[str, Any] | None:
        if self._user is None:
            return None
        person = Person(self._user.name)
        return {"name": person.name, "initials": person.initials, "you": True, "role": self.tenant}

    @cached_property
    def tenant(self) -> str:
        return str(self._user.tenant.name) if self._user else ""

    @property
    def theme(self) -> str:
        chosen = self._request.COOKIES.get("theme", "")
        return chosen if chosen in THEMES else ""

    @property
    def zone(self) -> dict[str, str]:
        return zone()

    @property
    def data_at(self) -> Any:
        """Since when this page's data was read."""
        return reader_of(self._request).now if self._user else timezone.now()

    @cached_property
    def _verify(self) -> dict[str, Any]:
        """How many wait, and whether the reader can act on any."""
        reader = reader_of(self._request)
        waiting = verify_queue.unverified(reader.actor, reader.now).order_by()[: COUNTED + 1].count()
        return {
            "count": _count(waiting),
            "hot": bool(waiting) and reader.rights.anywhere(Action.RECONCILE, reader.now),
        }

    @property
    def nav(self) -> list[NavGroup]:
        if self._user is None:
            return []
        groups = [
            NavGroup(
                _("Work"),
                [self._item("verify", _("Verify queue"), "verify", **self._verify), self._approvals],
            ),
            NavGroup(_("Look up"), [self._jobs, self._operations, self._can, self._words]),
            NavGroup(
                _("Oversight"),
                [self._insights, self._disputed, self._late, self._workers, self._stones, *self._trail],
            ),
        ]
        if self._user.is_staff:
            admin = NavItem("admin", _("Django admin"), reverse("admin:index"), "gear")
            groups.append(NavGroup(_("Administration"), [admin]))
        return groups

    @property
    def tabs(self) -> list[NavItem]:
        if self._user is None:
            return []
        verify = self._item("verify", _("Verify"), "verify", **self._verify)
        return [verify, self._approvals, self._jobs, self._stones]

    @cached_property
    def _approvals(self) -> NavItem:
        """With how many wait for the reader, no others."""
        reader = reader_of(self._request)
        waiting = approvals.approvable(approvals.open_entries(reader.now), reader.actor, reader.now)
        count = waiting.filter(tenant_id=reader.actor.tenant_id).values("pk")[: COUNTED + 1].count()
        return self._item("approvals", _("Approvals"), "people", count=_count(count), hot=bool(count))

    @property
    def _trail(self) -> list[NavItem]:
        reader = reader_of(self._request)
        seen = trail.may_read(reader.rights, reader.now)
        return [self._item("trail", _("Audit trail"), "doc")] if seen else []

    @property
    def _can(self) -> NavItem:
        return self._item("can", _("Who may what"), "key")

    @property
    def _jobs(self) -> NavItem:
        return self._item("jobs", _("Jobs"), "stack")

    @property
    def _operations(self) -> NavItem:
        return self._item("operations", _("Bulk operations"), "octagon-dashed")

    @property
    def _insights(self) -> NavItem:
        return self._item("insights", _("Insights"), "bars")

    @property
    def _stones(self) -> NavItem:
        return self._item("tombstones", _("Tombstones"), "seal")

    @property
    def _disputed(self) -> NavItem:
        return self._item("disputed", _("Disputed"), "differ")

    @property
    def _late(self) -> NavItem:
        return self._item("late", _("Late writes"), "replay")

    @property
    def _workers(self) -> NavItem:
        return self._item("workers", _("Workers"), "worker")

    @property
    def _words(self) -> NavItem:
        return self._item("words", _("Words"), "book")

    def _item(self, name: str, label: str, icon: str, **more: Any) -> NavItem:
        url = reverse(name)
        return NavItem(name, label, url, icon, current=self._request.path == url, **more)


def _count(number: int) -> str:
    return "" if not number else f"{COUNTED}+" if number > COUNTED else str(number)


def shell(request: HttpRequest) -> dict[str, Any]:
    return {"shell": Shell(request)}


def zone() -> dict[str, str]:
    """The zone in force: its id, and a label such as "Berlin, UTC+1"."""
    name = timezone.get_current_timezone_name()
    offset = timezone.localtime().strftime("%z")
    hours, minutes = int(offset[:3]), offset[3:5]
    city = name.rpartition("/")[2].replace("_", " ")
    label = "UTC" if name == "UTC" else f"{city}, UTC{hours:+d}{f':{minutes}' if minutes != '00' else ''}"
    return {"id": name, "label": label}


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def zone_of(request: HttpRequest) -> ZoneInfo:
    wanted = request.COOKIES.get("zone", "")
    return ZoneInfo(wanted if wanted in _zones() else "UTC")


@sync_and_async_middleware
def in_their_zone(get_response):  # type: ignore[no-untyped-def]
    """Times in the zone of the reader's cookie, UTC without one. In either colour, as daphne needs it."""
    if iscoroutinefunction(get_response):

        async def answer(request: HttpRequest) -> Any:
            with timezone.override(zone_of(request)):
                return await get_response(request)

    else:

        def answer(request: HttpRequest) -> Any:  # type: ignore[misc]
            with timezone.override(zone_of(request)):
                return get_response(request)

    return answer
