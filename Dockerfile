# docker build --build-arg COMMIT="$(git rev-parse --short=12 HEAD)" --tag tollgate .
FROM oven/bun:1.4.5-debian AS build
WORKDIR /build
COPY package.json bun.lock ./
RUN bun install --frozen-lockfile --production --ignore-scripts
COPY src src
COPY proto proto
COPY deploy/executable.ts deploy/executable.ts
ARG COMMIT=unknown
RUN TOLLGATE_COMMIT="$COMMIT" bun deploy/executable.ts --outfile /build/tollgate

FROM debian:12.11-slim
LABEL org.opencontainers.image.title="Tollgate" \
      org.opencontainers.image.licenses="Apache-2.0"
# The numbers are part of the image's interface: volumes belong to them, and Kubernetes names them.
RUN groupadd --gid 65532 tollgate \
 && useradd --uid 65532 --gid 65532 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin tollgate \
 && install --directory --owner=tollgate --group=tollgate --mode=0700 /var/lib/tollgate
COPY --from=build /build/tollgate /usr/local/bin/tollgate
COPY LICENSE /usr/share/doc/tollgate/LICENSE
COPY deploy/config/tollgate.yaml /etc/tollgate/tollgate.yaml
# Reachable from outside of the container: publish the ports that others may use, and no more.
ENV HOST=0.0.0.0 \
    METRICS_LISTEN=0.0.0.0:9464 \
    TOLLGATE_CONFIG=/etc/tollgate/tollgate.yaml
# Database and settlement outbox are in ./data.
WORKDIR /var/lib/tollgate
VOLUME /var/lib/tollgate
USER 65532:65532
EXPOSE 8080 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s --retries=3 CMD ["tollgate", "health"]
ENTRYPOINT ["tollgate"]
CMD ["serve"]
