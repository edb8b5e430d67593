// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// container is what the run needs of docker inspect.
type container struct {
	ID           string `json:"Id"`
	RestartCount int
	State        struct {
		Running  bool
		ExitCode int
	}
	Config struct {
		Env []string
	}
	NetworkSettings struct {
		Networks map[string]struct{ IPAddress string }
	}
}

// id returns the identity of the service's container, running or not.
func (e *engine) id(ctx context.Context, service string) (string, error) {
	id, err := e.output(ctx, "docker", "ps", "-aq",
		"--filter", "label=com.docker.compose.project="+e.project,
		"--filter", "label=com.docker.compose.service="+service)
	if err == nil && (id == "" || strings.Contains(id, "\n")) {
		err = fmt.Errorf("service %s: containers %q, want one", service, id)
	}
	return id, err
}

func (e *engine) inspect(ctx context.Context, service string) (container, error) {
	id, err := e.id(ctx, service)
	if err != nil {
		return container{}, err
	}
	text, err := e.output(ctx, "docker", "inspect", "--type", "container", id)
	if err != nil {
		return container{}, err
	}
	var found []container
	if err := json.Unmarshal([]byte(text), &found); err != nil || len(found) != 1 {
		return container{}, fmt.Errorf("docker inspect %s: %d containers, %w", id, len(found), err)
	}
	return found[0], nil
}

// log returns all that the service's present container printed.
func (e *engine) log(ctx context.Context, service string) (string, error) {
	id, err := e.id(ctx, service)
	if err != nil {
		return "", err
	}
	text, err := e.command(ctx, "docker", "logs", id).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("docker logs %s: %w: %s", id, err, text)
	}
	return string(text), nil
}

// variable returns a variable of the container's environment.
func (c container) variable(name string) string {
	for _, kv := range c.Config.Env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// ip returns the container's address in the project's only network.
func (c container) ip() string {
	for _, network := range c.NetworkSettings.Networks {
		return network.IPAddress
	}
	return ""
}

// ended reports how a stopped container ended: an error unless with status 0.
func (e *engine) ended(ctx context.Context, service string) error {
	c, err := e.inspect(ctx, service)
	switch {
	case err != nil:
		return err
	case c.State.Running:
		return fmt.Errorf("%s is still running", service)
	case c.State.ExitCode != 0:
		return fmt.Errorf("%s ended with status %d, want 0", service, c.State.ExitCode)
	case c.RestartCount != 0:
		return fmt.Errorf("%s was restarted %d times by the engine", service, c.RestartCount)
	}
	return nil
}
