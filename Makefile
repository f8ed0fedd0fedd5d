# What can be done here: `make help`.

MAKEFLAGS += --no-print-directory
SHELL := /bin/bash

# Every binary is pure Go; only the race detector, in scripts/test.sh, wants cgo.
export CGO_ENABLED := 0

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
ARGS ?=
CAMERA_ADDR ?= 127.0.0.1:8554
CAMERA ?= door

GO_FILES := $(shell find . -name '*.go' -not -path './web/node_modules/*' -not -path './build/*')
WEB_FILES := $(shell find web -type f -not -path 'web/node_modules/*' -not -path 'web/dist/*' -not -name '*.go' 2>/dev/null)

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

.PHONY: run
run: build ## install and build what is needed, and start the server on http://127.0.0.1:8090 (ARGS="--config FILE")
	@echo "==> starting the server; Ctrl-C ends it"
	@exec bin/drover serve $(ARGS)

.PHONY: demo
demo: build camera-files ## the server with a simulated camera already added (HTTP_ADDR=host:port CAMERA_ADDR=host:port)
	@exec scripts/demo.sh

.PHONY: camera
camera: camera-files ## a simulated camera at rtsp://127.0.0.1:8554/door (CAMERA_ADDR=host:port CAMERA=door:clip=h265)
	@# Without standard input: a job in the background that reads from its terminal is stopped.
	@echo "==> serving rtsp://$(CAMERA_ADDR)/$(firstword $(subst :, ,$(CAMERA))); Ctrl-C ends it"
	@exec build/simcam -listen $(CAMERA_ADDR) -camera $(CAMERA) </dev/null

.PHONY: build
build: ## bin/drover, with the web app in it
	@scripts/setup.sh build
	@$(MAKE) bin/drover

.PHONY: test
test: ## install what the tests need, and run all of them
	@scripts/setup.sh test
	@$(MAKE) build camera-files build/k6.stamp
	@exec scripts/test.sh

.PHONY: lint
lint: build/web.stamp build/k6.stamp ## gofmt, go vet, staticcheck
	@scripts/lint.sh

.PHONY: race
race: build/web.stamp ## the race detector over what `make test` leaves to it: ingest/rtsp, which wants an idle machine, and gRPC
	@CGO_ENABLED=1 go test -race -tags poison -p 1 ./ai/rpc ./ai/tap ./ai/ws ./ingest/rtsp

.PHONY: bench
bench: build/web.stamp ## Go benchmarks of the packages, with their allocations
	@go test -run '^$$' -bench . -benchmem ./core/... ./hls/... ./ingest/...

.PHONY: clean
clean: ## removes all that was built or downloaded here, but no data of the server
	@rm -rf bin build web/dist/* web/node_modules k6/node_modules e2e/browser/node_modules

.PHONY: camera-files
camera-files:
	@scripts/setup.sh camera
	@$(MAKE) build/simcam build/clips.stamp

# From here on: files, remade only when something they are made of is newer.

bin/drover: $(GO_FILES) go.mod go.sum build/web.stamp
	@echo "==> building bin/drover"
	@go build -trimpath -ldflags '$(LDFLAGS)' -o $@ ./cmd/drover

build/simcam: $(GO_FILES) go.mod go.sum
	@echo "==> building the simulated camera"
	@mkdir -p build
	@go build -o $@ ./ingest/rtsptest/simcam

build/clips.stamp: ingest/rtsptest/make-clips.sh
	@echo "==> making the simulated cameras' clips (once)"
	@mkdir -p build/clips
	@$< build/clips
	@touch $@

build/npm.stamp: web/package-lock.json
	@echo "==> installing the web app's packages (once)"
	@cd web && npm ci --no-audit --no-fund --loglevel=error
	@mkdir -p build && touch $@

build/k6.stamp: k6/package-lock.json k6/shim/package.json
	@echo "==> installing the k6 scripts' types (once)"
	@cd k6 && npm ci --no-audit --no-fund --loglevel=error
	@mkdir -p build && touch $@

build/web.stamp: build/npm.stamp $(WEB_FILES)
	@echo "==> building the web app"
	@cd web && npm run --silent build
	@touch $@
