// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairway-rpc/fairway/loadbalance"
)

// Config is what the flags say.
type Config struct {
	// Policy is one of loadbalance.Policies.
	Policy string
	// For is how long calls are counted; 0 is until the context ends.
	For time.Duration
	// QPS is the calls per second, Callers the highest number of them at a time.
	QPS, Callers int
	// JSON asks for a report as the last line of standard output.
	JSON bool
	// Spans says which pick spans are printed.
	Spans Spans
	// Story asks for the story instead of the table.
	Story bool
}

// withStory are the flags that go with -story, which has its own load.
var withStory = []string{"story", "json"}

// Spans says which pick spans are printed: none, a few per second, or all.
type Spans struct {
	On        bool
	PerSecond int // 0 is all
}

const (
	maxQPS          = 1_000_000
	maxCallers      = 10_000
	defaultSpanRate = 2
)

// Parse reads the arguments. It writes the usage to w where -h asks for it and
// returns flag.ErrHelp.
func Parse(args []string, w io.Writer) (Config, error) {
	cfg := Config{}
	policies := strings.Join(loadbalance.Policies(), ", ")
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the caller prints errors
	flags.StringVar(&cfg.Policy, "policy", loadbalance.SmoothWRR, "how instances are picked: "+policies)
	flags.DurationVar(&cfg.For, "for", 0, "how long calls are counted, such as 10s; 0 is until Ctrl-C")
	flags.IntVar(&cfg.QPS, "qps", 4000, "calls a second")
	flags.IntVar(&cfg.Callers, "callers", 32, "callers, each with one call at a time")
	flags.BoolVar(&cfg.JSON, "json", false, "write a JSON report as the last line of standard output; the table goes to standard error")
	flags.Var(&cfg.Spans, "spans", fmt.Sprintf("print pick spans as they end: %d a second, -spans=N a second or -spans=all", defaultSpanRate))
	flags.BoolVar(&cfg.Story, "story", false, "show what happens to services and to etcd instead, one event after the other, for a minute")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			usage(flags, w)
		}
		return cfg, err
	}
	if flags.NArg() > 0 {
		return cfg, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if cfg.Story {
		return cfg, storyAlone(flags)
	}
	return cfg, cfg.check()
}

// storyAlone refuses flags that the story would ignore.
func storyAlone(flags *flag.FlagSet) (err error) {
	flags.Visit(func(f *flag.Flag) {
		if !slices.Contains(withStory, f.Name) {
			err = fmt.Errorf("-%s does not go with -story", f.Name)
		}
	})
	return err
}

func usage(flags *flag.FlagSet, w io.Writer) {
	flags.SetOutput(w)
	_, _ = fmt.Fprintln(w, "Runs an etcd, three providers and a consumer in one process and shows where the calls go.")
	flags.PrintDefaults()
}

func (c Config) check() error {
	if _, err := newBalancer(c.Policy); err != nil {
		return fmt.Errorf("-policy: %w", err)
	}
	if c.For < 0 {
		return fmt.Errorf("-for %v: it is negative", c.For)
	}
	if c.QPS < 1 || c.QPS > maxQPS {
		return fmt.Errorf("-qps %d: it is not between 1 and %d", c.QPS, maxQPS)
	}
	if c.Callers < 1 || c.Callers > maxCallers {
		return fmt.Errorf("-callers %d: it is not between 1 and %d", c.Callers, maxCallers)
	}
	return nil
}

// String implements flag.Value.
func (s *Spans) String() string {
	switch {
	case s == nil || !s.On:
		return ""
	case s.PerSecond == 0:
		return "all"
	}
	return strconv.Itoa(s.PerSecond)
}

// IsBoolFlag lets -spans stand alone.
func (s *Spans) IsBoolFlag() bool { return true }

// Set implements flag.Value.
func (s *Spans) Set(value string) error {
	switch value {
	case "true":
		*s = Spans{On: true, PerSecond: defaultSpanRate}
	case "false":
		*s = Spans{}
	case "all":
		*s = Spans{On: true}
	default:
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxQPS {
			return fmt.Errorf("it is neither all nor a number between 1 and %d", maxQPS)
		}
		*s = Spans{On: true, PerSecond: n}
	}
	return nil
}
