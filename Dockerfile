# docker build -t cancelboard .
FROM python:3.13-slim AS built
WORKDIR /opt/cancelboard
COPY requirements.lock .
RUN python -m venv .venv \
 && .venv/bin/python -m pip install --no-cache-dir --require-hashes --no-deps -r requirements.lock
COPY manage.py pyproject.toml ./
COPY cancelboard cancelboard
COPY runs runs
COPY templates templates
COPY static static
COPY locale locale
RUN for po in locale/*/LC_MESSAGES/*.po; do \
        .venv/bin/pybabel --quiet compile --input-file "$po" --output-file "${po%.po}.mo"; done \
 && .venv/bin/python manage.py collectstatic --noinput --verbosity 0 \
 && rm -f var/secret_key

FROM python:3.13-slim
RUN useradd --system --home /opt/cancelboard cancelboard
WORKDIR /opt/cancelboard
COPY --from=built --chown=root:root /opt/cancelboard .
RUN chown cancelboard var
USER cancelboard
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
EXPOSE 8000
HEALTHCHECK CMD [".venv/bin/python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/healthz', timeout=3)"]
CMD [".venv/bin/daphne", "-b", "0.0.0.0", "-p", "8000", "--proxy-headers", "cancelboard.asgi:application"]
