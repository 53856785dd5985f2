"""Which admin site Django serves at /admin/. What stands on it: `runs.admin`."""

from django.contrib.admin.apps import AdminConfig


class Administration(AdminConfig):
    default_site = "cancelboard.admin_site.Site"
