# shellcheck shell=bash
# Copyright The Fairway Authors
# SPDX-License-Identifier: Apache-2.0

# The steps of .ci/run, which sources this file.

# The tools module holds no packages, only versions.
modules=(. examples tools)
with_packages=(. examples)

# each COMMAND... runs it in the root module and in examples.
each() {
  local module
  for module in "${with_packages[@]}"; do
    printf -- '--- %s: %s\n' "$module" "$*"
    (cd "$module" && "$@")
  done
}

# readme_command PREFIX prints the first command of README.md's shell blocks that
# begins with PREFIX, so that what the README promises is what CI runs.
readme_command() {
  awk -v prefix="$1" '
    /^```/ { shell = /^```(sh|bash|shell|console)$/ }
    shell && index($0, prefix) == 1 { sub(/[ \t]*#.*/, ""); print; found = 1; exit }
    END { exit !found }
  ' README.md || {
    echo "README.md has no shell block with a line that begins with: $1" >&2
    return 1
  }
}

step_tidy() {
  local module
  for module in "${modules[@]}"; do
    echo "--- $module"
    go -C "$module" mod tidy -diff
  done
}

step_generate() {
  scratch=$(mktemp -d) # not local: the trap needs it after the step has ended
  trap 'rm -rf "$scratch"' EXIT
  .ci/generate "$scratch/kitex_gen"
  diff -r idl/kitex_gen "$scratch/kitex_gen" || {
    echo "idl/kitex_gen is not what the generator makes of idl/*.thrift: run make generate" >&2
    return 1
  }
}

step_headers() {
  go test -count=1 -run '^TestHeaders$' ./internal/repocheck
}

step_vet() {
  each go vet ./...
}

step_lint() {
  local linter
  linter=$(.ci/tool golangci-lint)
  "$linter" config verify
  each "$linter" run --config "$root/.golangci.yml" ./...
}

step_cross() {
  local goos
  for goos in windows darwin; do
    each env GOOS="$goos" go build -o /dev/null ./...
    each env GOOS="$goos" go vet ./...
  done
}

step_test() {
  local line words
  line=$(readme_command 'go test')
  read -r -a words <<<"$line"
  echo "--- README.md: $line"
  "${words[@]}"
}

step_race() {
  go test -race ./...
}

step_examples() {
  go -C examples test ./...
  go -C examples test -race ./...
}

step_bench() {
  each go test -run '^$' -bench . -benchtime 1x ./...
}

step_demo() {
  demo 'go -C examples run ./demo' -for 5s -json
  demo 'go -C examples run ./demo -story' -json
}

# demo PREFIX FLAG... runs a command of README.md with further flags.
demo() {
  local line words
  line=$(readme_command "$1")
  read -r -a words <<<"$line"
  shift
  echo "--- README.md: $line"
  "${words[@]}" "$@"
}

step_compose() {
  if ! docker version >/dev/null 2>&1; then
    compose_banner
    return 75
  fi
  COMPOSE_TEST_STANDINS=1 go -C examples run ./composetest
}

compose_banner() {
  cat >&2 <<'BANNER'
!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!
!!  compose-test DID NOT RUN: no Docker engine answers on this machine.     !!
!!  docker-compose.yml and examples/Dockerfile are unproved by this run.    !!
!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!
BANNER
}
