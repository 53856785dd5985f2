"""The app as Django knows it."""

from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class RunsConfig(AppConfig):
    name = "runs"
    verbose_name = _("Jobs and rights")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """The append-only triggers, after every migration: one that rebuilds a table would lose them. And the
        installation's verifiers: one that can't be imported stops the start."""
        from runs.models.triggers import install

        post_migrate.connect(install, sender=self)
        if settings.CANCELBOARD_VERIFIERS:
            from runs.verifiers.registry import registered

            registered()
