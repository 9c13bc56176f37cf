# The image of the server. docker/compose.yaml runs it; docs/docker.md describes its start and its settings.
#
# The image contains a virtual environment on a plain Python of the version that the tests use. It has no compiler,
# no pip and no shell script, and the server's user can change nothing except /data.

FROM python:3.11-slim-bookworm AS build
WORKDIR /build
COPY pyproject.toml constraints.txt README.md LICENSE NOTICE ./
COPY core core
COPY api api
COPY app app
COPY tailrace tailrace
COPY openapi/python openapi/python
RUN --mount=type=cache,target=/root/.cache/pip \
    python -m venv --without-pip /opt/tailrace \
    && python -m pip --python /opt/tailrace/bin/python install --disable-pip-version-check \
        --constraint constraints.txt '.[tracing]' ./openapi/python

FROM python:3.11-slim-bookworm
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Tailrace" \
      org.opencontainers.image.description="Redis and Valkey Streams semantics as an HTTP service" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
RUN install --directory --owner=10001 --group=10001 --mode=0700 /data
COPY --from=build /opt/tailrace /opt/tailrace
COPY docker/healthcheck.py /opt/tailrace/share/healthcheck.py

# The server listens on all addresses of the container, and starts only if /data/tokens.json has a token.
# The user has no home directory; HOME is where the prompt of `tailrace cli` stores its history.
ENV PATH=/opt/tailrace/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/tmp \
    TAILRACE_HOST=0.0.0.0 \
    TAILRACE_PORT=8080 \
    TAILRACE_DATA_DIR=/data
# A number, so that Kubernetes can verify that it is not root.
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8080
# The server reads the journal before it accepts connections, so failures in the first two minutes do not count.
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=3 \
    CMD ["python", "-I", "/opt/tailrace/share/healthcheck.py"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["tailrace"]
CMD ["serve"]
