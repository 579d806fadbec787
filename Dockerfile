# syntax=docker/dockerfile:1
# planweave serve: see docs/deployment.md.

FROM python:3.11-slim-bookworm AS build
RUN python -m venv /opt/planweave
ENV PATH=/opt/planweave/bin:$PATH
WORKDIR /src
COPY requirements-serve.lock ./
RUN pip install --no-cache-dir --require-hashes --no-deps -r requirements-serve.lock
COPY pyproject.toml setup.py README.md LICENSE ./
COPY planweave planweave
COPY memory memory
COPY models models
COPY prompts prompts
COPY simulators simulators
COPY tools tools
COPY learning learning
COPY nodes nodes
COPY graphs graphs
COPY benchmarks benchmarks
COPY apps apps
RUN pip install --no-cache-dir --no-deps .

FROM python:3.11-slim-bookworm
RUN useradd --create-home --uid 10001 planweave \
    && install --directory --owner=planweave --mode=700 /var/lib/planweave
COPY --from=build /opt/planweave /opt/planweave
ENV PATH=/opt/planweave/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PLANWEAVE_STATE_DIR=/var/lib/planweave/state \
    PLANWEAVE_DATA_DIR=/var/lib/planweave/data \
    PLANWEAVE_CACHE_DIR=/var/lib/planweave/cache \
    PLANWEAVE_SERVE_USERS=/var/lib/planweave/users.json
USER 10001
WORKDIR /var/lib/planweave
VOLUME /var/lib/planweave
EXPOSE 2024
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:2024/ok', timeout=4)"]
CMD ["planweave", "serve", "--host", "0.0.0.0", "--workers", "2"]
