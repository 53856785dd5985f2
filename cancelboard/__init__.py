"""The Django project: settings, URLs, the ASGI application. Not the product: that is `runs`."""
