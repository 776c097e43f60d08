# Two stages: the first installs into a virtual environment, the second runs it as nobody special.

FROM python:3.13-slim-bookworm AS build
WORKDIR /build
COPY requirements.txt pyproject.toml README.md LICENSE ./
RUN python -m venv /opt/kibitz \
    && /opt/kibitz/bin/pip install --no-cache-dir --require-hashes -r requirements.txt
COPY app app
COPY agents agents
COPY engine engine
RUN /opt/kibitz/bin/pip install --no-cache-dir --no-deps .

FROM python:3.13-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends stockfish \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home kibitz
COPY --from=build /opt/kibitz /opt/kibitz
ENV PATH=/opt/kibitz/bin:$PATH STOCKFISH_PATH=/usr/games/stockfish PYTHONUNBUFFERED=1
USER kibitz
WORKDIR /home/kibitz
ENTRYPOINT ["kibitz"]
CMD ["--help"]
