# The image of Spark with tailrace-spark. Master, workers and drivers use the same image, so they have the same
# Python, Spark and packages. docker/compose.spark.yaml runs it.
#
# Spark is PyPI's pyspark, which is complete; constraints.txt pins the versions.

FROM python:3.11-slim-bookworm AS build
WORKDIR /build
COPY constraints.txt LICENSE NOTICE ./
COPY app/__init__.py app/
COPY openapi/python openapi/python
COPY spark_client spark_client
RUN --mount=type=cache,target=/root/.cache/pip \
    python -m venv --without-pip /opt/spark \
    && python -m pip --python /opt/spark/bin/python install --disable-pip-version-check \
        --constraint constraints.txt './openapi/python[fast]' './spark_client[spark]'

FROM python:3.11-slim-bookworm
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Tailrace on Spark" \
      org.opencontainers.image.description="Spark with the sink, the data source and the archive job of Tailrace" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# The packages are not pinned, because Debian removes older builds. Hadoop, in Spark, requires the user to have a
# name. procps: Spark's scripts call `ps`.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --user-group --no-create-home --home-dir /tmp --shell /usr/sbin/nologin spark \
    && install --directory --owner=10001 --group=10001 --mode=0700 /jobs
COPY --from=build /opt/spark /opt/spark
COPY spark_client/examples /opt/examples

# Drivers and workers share /jobs: checkpoints, archives and the files of workers.
ENV PATH=/opt/spark/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/tmp \
    SPARK_HOME=/opt/spark/lib/python3.11/site-packages/pyspark \
    PYSPARK_PYTHON=/opt/spark/bin/python \
    SPARK_WORKER_DIR=/jobs/workers \
    SPARK_LOCAL_DIRS=/jobs/local
USER 10001:10001
WORKDIR /jobs
VOLUME /jobs
STOPSIGNAL SIGTERM
