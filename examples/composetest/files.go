// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// baseImages are the public images that the compose file and the Dockerfile
// start from, and what the Dockerfile builds with the Go image.
type baseImages struct {
	etcd     string
	golang   string
	packages []string // relative to the examples module
}

var (
	imageLine = regexp.MustCompile(`(?m)^ +image: +(\S.*)$`)
	buildFrom = regexp.MustCompile(`(?m)^FROM +(\S+) +AS +build$`)
	runLine   = regexp.MustCompile(`(?m)^RUN +(\[.*\])$`)
)

// readBaseImages takes the names from the files themselves, so that a version
// is written in one place.
func readBaseImages(root string, s settings) (baseImages, error) {
	compose, err := os.ReadFile(filepath.Join(root, composeFile))
	if err != nil {
		return baseImages{}, err
	}
	docker, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(dockerfile)))
	if err != nil {
		return baseImages{}, err
	}
	return parseBaseImages(string(compose), string(docker), s)
}

func parseBaseImages(compose, docker string, s settings) (images baseImages, err error) {
	if images.etcd, err = one(composeFile, imageLine, compose); err != nil {
		return baseImages{}, err
	}
	if images.etcd, err = s.expand(images.etcd); err != nil {
		return baseImages{}, err
	}
	if images.golang, err = one(dockerfile, buildFrom, docker); err != nil {
		return baseImages{}, err
	}
	if images.golang, err = s.expand(images.golang); err != nil {
		return baseImages{}, err
	}
	images.packages, err = builtPackages(docker)
	return images, err
}

// one returns the only match of the expression's group.
func one(file string, expr *regexp.Regexp, text string) (string, error) {
	found := expr.FindAllStringSubmatch(text, -1)
	if len(found) != 1 {
		return "", fmt.Errorf("%s: %d lines match %s, want 1", file, len(found), expr)
	}
	return found[0][1], nil
}

// builtPackages returns the ./ arguments of the Dockerfile's RUN line, which
// has the JSON form because the images need no shell.
func builtPackages(docker string) ([]string, error) {
	line, err := one(dockerfile, runLine, docker)
	if err != nil {
		return nil, err
	}
	var args, packages []string
	if err := json.Unmarshal([]byte(line), &args); err != nil {
		return nil, fmt.Errorf("%s: RUN %s: %w", dockerfile, line, err)
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, "./") {
			packages = append(packages, arg)
		}
	}
	if len(packages) == 0 {
		return nil, fmt.Errorf("%s: RUN %s builds no package", dockerfile, line)
	}
	return packages, nil
}
