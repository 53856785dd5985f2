"""What the mother of the dying processes has loaded before she forks them. She opens no connection."""

import django

django.setup()

import django.test  # noqa: E402
from django.urls import get_resolver  # noqa: E402

import tests.crash.process  # noqa: E402, F401

assert get_resolver().url_patterns
