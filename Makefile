# Copyright The Fairway Authors
# SPDX-License-Identifier: Apache-2.0

# Short names for commands that work without make as well.

ARGS  ?=
BENCH ?= .
COUNT ?= 1

.PHONY: help
help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Run the demo; ARGS="-policy least-active" for its flags.
	go -C examples run ./demo $(ARGS)

.PHONY: test
test: ## Test both modules.
	go test ./...
	go -C examples test ./...

.PHONY: race
race: ## Test both modules with the race detector.
	go test -race ./...
	go -C examples test -race ./...

.PHONY: bench
bench: ## Run the benchmarks; BENCH=Pick COUNT=10 for some of them, with repetitions for benchstat.
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./...

.PHONY: bench-compare
bench-compare: ## Print what a pick takes as a part of what Kitex's own balancers take.
	.ci/bench-compare

.PHONY: lint
lint: ## Vet and lint both modules, for this system.
	.ci/run headers vet lint

.PHONY: fmt
fmt: ## Format all Go code as the linter wants it.
	"$$(.ci/tool golangci-lint)" fmt ./...

.PHONY: generate
generate: ## Generate idl/kitex_gen from idl/*.thrift anew.
	.ci/generate idl/kitex_gen

.PHONY: tidy
tidy: ## Tidy the go.mod and go.sum of all modules.
	go mod tidy
	go -C examples mod tidy
	go -C tools mod tidy

.PHONY: compose-test
compose-test: ## Test docker-compose.yml as a user runs it; needs a Docker engine.
	go -C examples run ./composetest

.PHONY: check
check: ## Run everything that CI runs.
	.ci/run
