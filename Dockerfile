# Drover in a small image. Build and start it, asking nobody for a login:
#
#   docker build -t drover .
#   docker run --rm -p 127.0.0.1:8090:8090 -v drover-data:/data -e DROVER_AUTH_MODE=none drover
#
# In a container the server cannot stay on loopback, or nobody would reach it;
# off loopback it starts only when told in as many words that no login is asked.
# That choice is yours, so it is not made in this file: hence -e DROVER_AUTH_MODE=none,
# with the port published on the host's loopback address alone.

FROM node:22-alpine AS web
WORKDIR /src/web
COPY web/package.json web/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY web ./
RUN npm run build

FROM golang:1.26-alpine AS server
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=web /src/web/dist ./web/dist
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$VERSION" -o /drover ./cmd/drover

FROM alpine:3.22
RUN apk add --no-cache ca-certificates tzdata \
	&& adduser -D -H -u 10001 drover \
	&& mkdir /data \
	&& chown drover:drover /data
COPY --from=server /drover /usr/local/bin/drover
USER drover
WORKDIR /data
VOLUME /data
ENV DROVER_HTTP_ADDRESS=0.0.0.0:8090 \
	DROVER_DATA_DIR=/data
EXPOSE 8090
# The port of DROVER_HTTP_ADDRESS, whatever it was changed to.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
	CMD wget -q -O /dev/null "http://127.0.0.1:${DROVER_HTTP_ADDRESS##*:}/healthz" || exit 1
STOPSIGNAL SIGTERM
ENTRYPOINT ["drover"]
CMD ["serve"]
