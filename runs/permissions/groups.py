"""Groups of a tenant. Django's know no tenant, so a group's name begins with it: `acme/night shift`."""

from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from runs.errors import FieldError, Invalid

from .changing import Change

MOST = 150  #: characters of a group's whole name, by Django's table


def groups_of(tenant_name: str) -> QuerySet[Group]:
    return Group.objects.filter(name__startswith=f"{tenant_name}/")


def called(group: Group) -> str:
    """The group's name, as its tenant calls it."""
    return group.name.partition("/")[2]


def write_group(change: Change, group: Group, name: str) -> None:
    """A new group, or a new name for one of the tenant's. Raises Invalid."""
    whole = f"{change.actor.tenant_name}/{name}"
    if not name or len(whole) > MOST:
        most = MOST - len(whole) + len(name)
        raise Invalid(FieldError("called", _("A name has 1 to %(most)d characters.") % {"most": most}))
    if Group.objects.filter(name=whole).exclude(pk=group.pk).exists():
        raise Invalid(FieldError("called", _("There is such a group already.")))
    before = called(group) if group.pk else ""
    group.name = whole
    group.save()
    if before != name:
        change.keep("group: renamed" if before else "group: made", name, before)
