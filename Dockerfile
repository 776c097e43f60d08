# The service in a container, with Stockfish. Beyond its own machine it asks for tokens:
#
#   docker build -t kibitz .
#   docker run -p 8000:8000 -v kibitz:/data -e KIBITZ_API_TOKENS=read:...,write:... kibitz
#
# Matches are kept in /data, or in a Postgres: -e KIBITZ_DATABASE=postgresql://...; `kibitz db upgrade`
# makes its tables: docker run -e KIBITZ_DATABASE=... kibitz db upgrade
# Stopped or killed, it takes up unfinished matches at the next start. `docker stop -t 30` lets
# requests in hand end.

# The first stage installs into a virtual environment, the second runs it as nobody special.
FROM python:3.13-slim-bookworm AS build
WORKDIR /build
COPY requirements.txt ./
RUN python -m venv /opt/kibitz \
    && /opt/kibitz/bin/pip install --no-cache-dir --require-hashes -r requirements.txt
COPY pyproject.toml README.md LICENSE ./
COPY engine engine
COPY agents agents
COPY migrations migrations
COPY app app
RUN /opt/kibitz/bin/pip install --no-cache-dir --no-deps .

FROM python:3.13-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends stockfish \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --user-group --create-home kibitz \
    && install -d -o kibitz -g kibitz /data
COPY --from=build /opt/kibitz /opt/kibitz
ENV PATH=/opt/kibitz/bin:$PATH \
    STOCKFISH_PATH=/usr/games/stockfish \
    PYTHONUNBUFFERED=1 \
    KIBITZ_DATA_FOLDER=/data \
    KIBITZ_PORT=8000
# By number, so that Kubernetes can see that it is not root.
USER 10001:10001
WORKDIR /home/kibitz
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
# Not by way of a proxy, whatever the environment says.
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import os, sys, urllib.request as r; port = os.environ['KIBITZ_PORT']; sys.exit(r.build_opener(r.ProxyHandler({})).open(f'http://127.0.0.1:{port}/healthz', timeout=4).status != 200)"]
ENTRYPOINT ["kibitz"]
CMD ["serve", "--host", "0.0.0.0"]
