// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"

	"github.com/fairway-rpc/fairway/internal/fault"
	"github.com/fairway-rpc/fairway/internal/logging"
)

const (
	// dialKeepAlive and dialKeepAliveTimeout find a peer that has vanished
	// without closing its connection. gRPC raises anything below 10 s.
	dialKeepAlive        = 10 * time.Second
	dialKeepAliveTimeout = 3 * time.Second
	// notYetAuthenticated stands for a token until the first call has got one.
	notYetAuthenticated = "not-yet-authenticated"
)

// EtcdConfig says how to reach etcd.
type EtcdConfig struct {
	// Endpoints are host:port, or URLs with the scheme http, https, unix or
	// unixs; at least one.
	Endpoints []string

	// Username turns password authentication on. The password is one of:
	// Password itself, the content of PasswordFile without the line end, or the
	// value of the environment variable named by PasswordEnv.
	Username     string
	Password     string `json:"-"`
	PasswordFile string
	PasswordEnv  string

	// TLS turns TLS on. Alternatively the files do: CAFile has the
	// authorities that the server's certificate is checked against (the
	// system's if empty), CertFile and KeyFile the client's own certificate.
	// ServerName overrides the name that is checked.
	TLS        *tls.Config
	CAFile     string
	CertFile   string
	KeyFile    string
	ServerName string

	// Logger gets the etcd client's own log lines, repeated ones held back.
	// Defaults to Kitex's klog.
	Logger *slog.Logger

	// DialOptions are added to those of the gRPC connection.
	DialOptions []grpc.DialOption
}

// String shows no secret.
func (c EtcdConfig) String() string {
	return fmt.Sprintf("etcd at %s, user %q, TLS %t", strings.Join(c.Endpoints, ","), c.Username, c.secure())
}

// GoString is String, so that %#v shows no secret either.
func (c EtcdConfig) GoString() string { return c.String() }

// LogValue keeps the password out of structured logs.
func (c EtcdConfig) LogValue() slog.Value { return slog.StringValue(c.String()) }

// secure reports whether TLS is asked for, by settings or by an endpoint. The
// etcd client speaks to all endpoints as to the first, so that one https among
// them means TLS for all.
func (c EtcdConfig) secure() bool {
	return c.TLS != nil || c.CAFile != "" || c.CertFile != "" || c.KeyFile != "" || c.ServerName != "" ||
		slices.ContainsFunc(c.Endpoints, func(e string) bool {
			return strings.HasPrefix(e, "https://") || strings.HasPrefix(e, "unixs:")
		})
}

// Dial makes a client of etcd that is set up for discovery: it finds dead
// connections within 13 s, it connects again within a few seconds after an
// outage of any length, and it returns at once while etcd is down, also
// with a password, whose check waits for the first call. The caller owns the
// client and closes it after what borrows it.
//
// Errors wrap [ErrInvalidConfig]. Whatever is configured and cannot be read is
// an error: there is no way to end up in plaintext or without a password.
func Dial(cfg EtcdConfig) (*clientv3.Client, error) {
	if err := checkEndpoints(cfg); err != nil {
		return nil, err
	}
	password, err := cfg.password()
	if err != nil {
		return nil, err
	}
	tlsConfig, err := cfg.tls()
	if err != nil {
		return nil, err
	}
	logger := cfg.Logger
	if logger == nil {
		logger = logging.Default()
	}
	config := clientv3.Config{
		Endpoints:            cfg.Endpoints,
		TLS:                  tlsConfig,
		DialKeepAliveTime:    dialKeepAlive,
		DialKeepAliveTimeout: dialKeepAliveTimeout,
		PermitWithoutStream:  true,
		DialOptions:          append([]grpc.DialOption{reconnect()}, cfg.DialOptions...),
		Logger:               newZap(logger),
	}
	if cfg.Username != "" {
		// With a user, clientv3.New would call etcd before it returns. A token
		// that etcd refuses makes the first call authenticate instead.
		config.Token = notYetAuthenticated
	}
	cli, err := clientv3.New(config)
	if err != nil {
		return nil, fault.Invalid("EtcdConfig", "%w", err)
	}
	if cfg.Username != "" {
		cli.Token, cli.Username, cli.Password = "", cfg.Username, password
	}
	return cli, nil
}

// reconnect bounds the wait between attempts to connect. gRPC's own grows to two
// minutes: after an outage of one, leases would expire before their owners had
// noticed that etcd is back.
func reconnect() grpc.DialOption {
	return grpc.WithConnectParams(grpc.ConnectParams{
		Backoff:           grpcbackoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.5, MaxDelay: 2 * time.Second},
		MinConnectTimeout: 5 * time.Second,
	})
}

func checkEndpoints(cfg EtcdConfig) error {
	if len(cfg.Endpoints) == 0 {
		return fault.Invalid("EtcdConfig.Endpoints", "there is none; give at least one host:port")
	}
	for _, endpoint := range cfg.Endpoints {
		if err := checkEndpoint(endpoint, cfg.secure()); err != nil {
			return fault.Invalid("EtcdConfig.Endpoints", "%q: %w", endpoint, err)
		}
	}
	return nil
}

func checkEndpoint(endpoint string, secure bool) error {
	scheme, rest, isURL := strings.Cut(endpoint, "://")
	plain := scheme == "http" && isURL || strings.HasPrefix(endpoint, "unix:")
	switch {
	case plain && secure:
		return errors.New("plaintext beside TLS settings or https endpoints; use https for all")
	case strings.HasPrefix(endpoint, "unix:") || strings.HasPrefix(endpoint, "unixs:"):
		return nil
	case !isURL:
		rest = endpoint
	case scheme != "http" && scheme != "https":
		return fmt.Errorf("unknown scheme %q", scheme)
	}
	if isURL {
		u, err := url.Parse(endpoint)
		if err != nil {
			return err
		}
		rest = u.Host
	}
	return checkHostPort(rest)
}

func checkHostPort(hostport string) error {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return err
	}
	if host == "" || port == "" || strings.ContainsAny(hostport, " \t\n") {
		return errors.New("it is not host:port")
	}
	return checkPort(port)
}

func (c EtcdConfig) password() (string, error) {
	sources := 0
	for _, s := range []string{c.Password, c.PasswordFile, c.PasswordEnv} {
		if s != "" {
			sources++
		}
	}
	switch {
	case c.Username == "" && sources == 0:
		return "", nil
	case c.Username == "":
		return "", fault.Invalid("EtcdConfig.Username", "it is empty although a password is given")
	case sources != 1:
		return "", fault.Invalid("EtcdConfig.Password", "give exactly one of Password, PasswordFile and PasswordEnv for user %q", c.Username)
	case c.PasswordFile != "":
		content, err := os.ReadFile(c.PasswordFile)
		if err != nil {
			return "", fault.Invalid("EtcdConfig.PasswordFile", "%w", err)
		}
		return notEmpty("EtcdConfig.PasswordFile", strings.TrimRight(string(content), "\r\n"))
	case c.PasswordEnv != "":
		return notEmpty("EtcdConfig.PasswordEnv", os.Getenv(c.PasswordEnv))
	}
	return c.Password, nil
}

func notEmpty(name, password string) (string, error) {
	if password == "" {
		return "", fault.Invalid(name, "the password is empty")
	}
	return password, nil
}
