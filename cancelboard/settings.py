"""Django's settings. Every value that an installation may change comes from the environment; the README
lists the variables. No second settings file: tests and the demo differ by their environment only.
"""

from datetime import timedelta
from pathlib import Path

from cancelboard import environment as env
from cancelboard.database import database
from cancelboard.environment import WrongSetting
from cancelboard.secret import kept
from cancelboard.signing import signing_key

BASE_DIR = Path(__file__).resolve().parent.parent
#: What an installation makes by itself: the embedded database, the secret key, the collected static files.
VAR = BASE_DIR / env.text("CANCELBOARD_VAR", "var")

DEBUG = env.flag("DEBUG")
CANCELBOARD_HTTPS = env.flag("CANCELBOARD_HTTPS")
ALLOWED_HOSTS = env.hosts("ALLOWED_HOSTS", ("localhost", "127.0.0.1", "[::1]"))
CSRF_TRUSTED_ORIGINS = env.origins("CSRF_TRUSTED_ORIGINS")

SECRET_KEY = env.text("SECRET_KEY")
if CANCELBOARD_HTTPS and len(SECRET_KEY) < 50:
    raise WrongSetting(
        "SECRET_KEY",
        "with CANCELBOARD_HTTPS it must be given, 50 characters or more",
        'Make one: python3 -c "import secrets; print(secrets.token_urlsafe(64))"',
    )
SECRET_KEY = SECRET_KEY or kept(VAR / "secret_key")

#: What certificates are signed with; None: they are not. The variable names a file.
CANCELBOARD_SIGNING_KEY = signing_key(env.text("CANCELBOARD_SIGNING_KEY"))

#: Requests a second that one principal may make; 0: no limit.
CANCELBOARD_RATE = env.integer("CANCELBOARD_RATE", 1000, 0, 1_000_000)
#: Tombstones that one principal may set in an hour; 0: no limit.
CANCELBOARD_TOMBSTONES_PER_HOUR = env.integer("CANCELBOARD_TOMBSTONES_PER_HOUR", 1000, 0, 1_000_000)

#: Who may read /metrics, as a bearer token; unset: nobody.
CANCELBOARD_METRICS_TOKEN = env.text("CANCELBOARD_METRICS_TOKEN")

# -- verifiers: who is asked about unknown steps -------------------------------------------------------------
#: The installation's own, by name, as module:function.
CANCELBOARD_VERIFIERS = env.places("CANCELBOARD_VERIFIERS")
#: The only hosts that HTTP look-ups may ask; and bearer tokens by tenant and host. The variable names a file.
CANCELBOARD_LOOKUP_HOSTS = env.receivers("CANCELBOARD_LOOKUP_HOSTS")
CANCELBOARD_LOOKUP_TOKENS = env.tokens("CANCELBOARD_LOOKUP_TOKENS")
#: Seconds that one look-up may take, and how many may be under way at one receiver.
CANCELBOARD_CHECK_SECONDS = env.integer("CANCELBOARD_CHECK_SECONDS", 10, 1, 120)
CANCELBOARD_CHECKS_AT_ONCE = env.integer("CANCELBOARD_CHECKS_AT_ONCE", 4, 1, 100)

# -- alerts: who is told of what stays unknown ---------------------------------------------------------------
#: Thresholds, as times of a queue's limit.
CANCELBOARD_ALERT_TIMES = env.numbers("CANCELBOARD_ALERT_TIMES", (1, 8, 24))
CANCELBOARD_ALERT_EMAIL = env.addresses("CANCELBOARD_ALERT_EMAIL")
CANCELBOARD_ALERT_FROM = (env.addresses("CANCELBOARD_ALERT_FROM") or [""])[0]
CANCELBOARD_SMTP = env.smtp("CANCELBOARD_SMTP_URL")
if CANCELBOARD_ALERT_EMAIL and not (CANCELBOARD_SMTP and CANCELBOARD_ALERT_FROM):
    raise WrongSetting(
        "CANCELBOARD_ALERT_EMAIL",
        "without CANCELBOARD_SMTP_URL and CANCELBOARD_ALERT_FROM nothing can be mailed",
        "Set both",
    )
CANCELBOARD_ALERT_WEBHOOK = env.webhook("CANCELBOARD_ALERT_WEBHOOK")
CANCELBOARD_ALERT_SECRET = env.text("CANCELBOARD_ALERT_SECRET")
if CANCELBOARD_ALERT_WEBHOOK and len(CANCELBOARD_ALERT_SECRET) < 32:
    raise WrongSetting(
        "CANCELBOARD_ALERT_SECRET",
        "with CANCELBOARD_ALERT_WEBHOOK it must be given, 32 characters or more: it signs what is sent",
        'Make one: python3 -c "import secrets; print(secrets.token_urlsafe(32))"',
    )
#: The board's own address, for links in alerts; unset: they name the job.
CANCELBOARD_URL = (env.origins("CANCELBOARD_URL") or [""])[0]

# -- the database -----------------------------------------------------------------------------------------
DATABASES = {
    "default": database(env.text("DATABASE_URL") or f"sqlite:///{VAR}/cancelboard.sqlite3", BASE_DIR)
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# -- the application --------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "daphne",  # first: it must set the reactor before anything else imports Twisted
    "cancelboard.apps.Administration",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "ninja",  # only so that the API's documentation page loads its own files, not somebody else's
    "django_htmx",
    "axes",
    "runs",
]
# Each of these is async-capable: a sync-only one can hang daphne's shutdown.
MIDDLEWARE = [
    "cancelboard.headers.strict_headers",
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "runs.whence.kept_address",
    "runs.board.shell.in_their_zone",
    "axes.middleware.AxesMiddleware",  # last: it answers for a login that was locked out
]
ROOT_URLCONF = "cancelboard.urls"
ASGI_APPLICATION = "cancelboard.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "runs.board.shell.shell",
            ]
        },
    }
]

# -- nudges between processes: only how soon a page looks again, never what is true -------------------------
REDIS_URL = env.text("REDIS_URL")
if REDIS_URL and not REDIS_URL.startswith(("redis://", "rediss://", "unix://")):
    raise WrongSetting(
        "REDIS_URL", "it must begin with redis://, rediss:// or unix://", "Unset it to do without"
    )
CHANNEL_LAYERS = {
    "default": {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": [REDIS_URL]}}
    if REDIS_URL
    else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
}

# -- people -----------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "runs.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/login/"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]  # together: nobody can lock somebody else out
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_TEMPLATE = "runs/account/locked.html"
AXES_VERBOSE = False
AXES_ENABLE_ADMIN = False  # it would show every tenant's names and addresses to each administrator

# -- the browser ------------------------------------------------------------------------------------------
SESSION_COOKIE_AGE = 12 * 60 * 60
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = CANCELBOARD_HTTPS
if CANCELBOARD_HTTPS:  # a browser takes these names from this very host only, and only by HTTPS
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SECURE_SSL_REDIRECT = CANCELBOARD_HTTPS
if CANCELBOARD_HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")  # the proxy in front must set or strip it
    SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    # Preloading is a promise for a whole registered domain: not one board's to give.
    SILENCED_SYSTEM_CHECKS = ["security.W021"]
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024  # PROTOCOL.md, section 2: body <= 1 MiB

STATIC_URL = "/static/"
STATIC_ROOT = VAR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    # The name holds the content's digest: a browser may keep a file for ever.
    "staticfiles": {"BACKEND": "servestatic.storage.CompressedManifestStaticFilesStorage"},
}

# -- language and time ------------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_TZ = True
TIME_ZONE = "UTC"

# -- the log: standard error, one line for each event -----------------------------------------------------
LOG_LEVEL = env.choice("CANCELBOARD_LOG", ("INFO", "DEBUG", "WARNING", "ERROR"))
LOG_LINE = "{asctime} {levelname} {name} {request_id}: {message}"
LOG_AS = env.choice("CANCELBOARD_LOG_AS", ("TEXT", "JSON")).lower()
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"()": "cancelboard.logs.OneLine", "format": LOG_LINE, "style": "{"},
        "json": {"()": "cancelboard.logs.OneObject"},
    },
    "filters": {"named": {"()": "cancelboard.request_id.Named"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": LOG_AS, "filters": ["named"]}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    # Django's own handlers print a second time, in another shape, and mail.
    "loggers": {
        "django": {"handlers": [], "propagate": True},
        "django.server": {"handlers": [], "propagate": True},
        # A refusal is an answer, not a fault: the server's access line says it already.
        "django.request": {"level": "ERROR"},
    },
}
