// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const (
	// maxBody is how much of an answer's body is read, so that a target need not
	// notice that nobody wanted it.
	maxBody = 64 << 10
	// maxHeader is how much header an answer may have.
	maxHeader = 64 << 10
)

// HTTPGet returns a check that a target, of the form host:port, answers a GET of path,
// which may have a query, with a status of 2xx or 3xx. Redirects are not followed. A
// port other than 0 takes the place of the target's own. The request goes to the target
// itself, whatever proxy the environment names, over a new connection each time.
//
// It fails if path does not begin with a slash or port is none.
func HTTPGet(path string, port int) (Func, error) {
	ref, err := url.Parse(path)
	if err != nil {
		return nil, fmt.Errorf("path of the HTTP health check: %w", err)
	}
	if !strings.HasPrefix(path, "/") || ref.Host != "" {
		return nil, fmt.Errorf("path of the HTTP health check is %q; it must begin with one slash, as in /healthz", path)
	}
	if port < 0 || port > 65535 {
		return nil, fmt.Errorf("port of the HTTP health check is %d; it must be between 1 and 65535, or 0 for the target's own", port)
	}
	client := newClient()
	return func(ctx context.Context, address string) error {
		host, err := hostPort(address, port)
		if err != nil {
			return err
		}
		target := url.URL{Scheme: "http", Host: host, Path: ref.Path, RawPath: ref.RawPath, RawQuery: ref.RawQuery}
		return get(ctx, client, target.String())
	}, nil
}

// newClient returns a client that keeps nothing between requests.
func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            (&net.Dialer{KeepAlive: -1}).DialContext,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHeader,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func hostPort(address string, port int) (string, error) {
	if port == 0 {
		return address, nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("HTTP health check: the target is not of the form host:port: %w", err)
	}
	return net.JoinHostPort(host, strconv.Itoa(port)), nil
}

func get(ctx context.Context, client *http.Client, target string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return fmt.Errorf("HTTP health check: %w", err)
	}
	req.Header.Set("User-Agent", "fairway-health-check")
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("HTTP health check: %w", err)
	}
	defer resp.Body.Close()                                        //nolint:errcheck // nothing was written
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxBody)) // the status has said it all
	if resp.StatusCode < 200 || resp.StatusCode > 399 {
		return fmt.Errorf("HTTP health check: GET %s answered %s, want 2xx or 3xx", target, resp.Status)
	}
	return nil
}
