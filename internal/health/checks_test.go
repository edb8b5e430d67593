// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// ctxOf bounds a check that should take no time.
func ctxOf(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func httpGet(t *testing.T, path string, port int) Func {
	t.Helper()
	check, err := HTTPGet(path, port)
	if err != nil {
		t.Fatal(err)
	}
	return check
}

func TestTCP(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := TCP()(ctxOf(t), address); err != nil {
		t.Error(err)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("the target read %d bytes, %v; want that the check has hung up", n, err)
	}
	if err := errors.Join(conn.Close(), listener.Close()); err != nil {
		t.Fatal(err)
	}
	err = TCP()(ctxOf(t), address)
	if refused := new(net.OpError); !errors.As(err, &refused) || !strings.HasPrefix(err.Error(), "TCP health check: ") || !strings.Contains(err.Error(), address) {
		t.Errorf("%v, want a refusal that names the check and the target", err)
	}
}

func TestHTTPGet(t *testing.T) {
	var connections atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/broken", http.StatusFound)
		case "/a b":
			if r.URL.Query().Get("deep") != "1" {
				w.WriteHeader(http.StatusBadRequest)
			}
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	address := server.Listener.Addr().String()
	for path, well := range map[string]bool{"/a%20b?deep=1": true, "/moved": true, "/endless": true, "/broken": false} {
		err := httpGet(t, path, 0)(ctxOf(t), address)
		if (err == nil) != well {
			t.Errorf("%s: %v", path, err)
		}
		if !well && !strings.HasSuffix(err.Error(), "GET http://"+address+path+" answered 503 Service Unavailable, want 2xx or 3xx") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if n := connections.Load(); n != 4 {
		t.Errorf("%d connections for four checks", n)
	}
}

// TestHTTPGetOfAnotherPort: that of the target's that serves its health.
func TestHTTPGetOfAnotherPort(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	_, text, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := httpGet(t, "/healthz", port)(ctxOf(t), "127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), ":"+text+"/healthz answered 404") {
		t.Errorf("%v, want the answer of port %d", err, port)
	}
	if err := httpGet(t, "/healthz", port)(ctxOf(t), "no port"); err == nil || !strings.Contains(err.Error(), "host:port") {
		t.Errorf("%v", err)
	}
}

func TestHTTPGetEndsWithTheContext(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and answers nothing
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := httpGet(t, "/", 0)(ctx, listener.Addr().String()); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestHTTPGetRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		port int
		want string
	}{
		"no slash":   {"healthz", 0, "slash"},
		"nothing":    {"", 0, "slash"},
		"a host":     {"//elsewhere/healthz", 0, "slash"},
		"a bad path": {"/%zz", 0, "path"},
		"a port":     {"/", 65536, "port"},
	} {
		if _, err := HTTPGet(c.path, c.port); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
