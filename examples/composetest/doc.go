// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Command composetest proves the repository's docker-compose.yml: it runs the
// very file that a user runs, under a project name and host ports of its own,
// and asserts that
//
//   - the consumer's calls spread by the providers' weights, within four
//     standard deviations,
//   - stopping etcd fails no call,
//   - a consumer started while etcd is stopped calls from its disk copy,
//   - starting etcd again brings every key back, under a living lease,
//   - stopping a provider fails no call, and every program ends with status 0.
//
// Then, and after a failure or Ctrl-C, it takes everything down. Run it in the
// folder examples or the root of the repository:
//
//	go -C examples run ./composetest
//
// It wants a Docker engine and docker compose or docker-compose 1.29.
//
// With COMPOSE_TEST_STANDINS=1 it needs no registry: under the names and tags
// of the public base images it builds images from the local Go toolchain, the
// module cache and the etcd of the tools module. It refuses to replace an image
// that it did not build, and removes its own at the end. One such run at a time.
package main
