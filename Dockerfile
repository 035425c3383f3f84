# syntax=docker/dockerfile:1

# A version of Node that its makers support (24 until April 2028) and that CI tests. The package itself runs on 20 too.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json ./
COPY scripts/build.mjs scripts/bundle.mjs scripts/remove-stale.mjs scripts/
COPY schemas schemas
COPY plugins plugins
COPY runtime runtime
COPY clients/workbench clients/workbench
COPY clients/python/src clients/python/src
RUN node scripts/build.mjs --bundle && npm prune --omit=dev

FROM node:24-slim AS service
WORKDIR /app
# HOST is an address that others reach, so the service asks for MILLRACE_KEYS or MILLRACE_AUTH=none. The image sets neither:
# who runs it decides (docs/access.md).
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=5001 \
    MILLRACE_PROJECT=/app \
    MILLRACE_DATA_DIR=/data
COPY package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY schemas schemas
COPY pipelines pipelines
RUN ln -s /app/dist/bundle/bin.js /usr/local/bin/millrace \
    && mkdir /data && chown node:node /data
# Everything under /app belongs to root: the service reads it and writes to /data alone.
USER node
EXPOSE 5001
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/bundle/main.js"]

# The image with Python and the libraries of `millrace train`: docker build --target jobs (docs/deploy.md).
FROM service AS jobs
USER root
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-venv libgomp1 \
    && rm -rf /var/lib/apt/lists/* \
    && python3 -m venv /opt/python \
    && /opt/python/bin/pip install --no-cache-dir lightgbm xgboost pandas pyarrow
ENV MILLRACE_PYTHON=/opt/python/bin/python
COPY --chmod=755 deploy/retrain/retrain.sh /usr/local/bin/millrace-retrain
USER node
HEALTHCHECK NONE
CMD ["millrace", "train", "--help"]

# The default target.
FROM service
