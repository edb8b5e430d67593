// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package flagenv lets environment variables give the defaults of flags, as
// containers need it.
package flagenv

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
)

// Parse parses the arguments. A flag that they do not set has the value of its
// environment variable, which variables names by flag, if that is not empty. A
// bad value is an error that names the variable. Arguments that are no flags
// are an error, too. It changes the usage texts to name the variables.
func Parse(flags *flag.FlagSet, args []string, variables map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		variable := variables[name]
		flags.Lookup(name).Usage += " (environment: " + variable + ")"
		value := os.Getenv(variable)
		if value == "" {
			continue
		}
		if err := flags.Set(name, value); err != nil {
			return fmt.Errorf("environment variable %s=%q: %w", variable, value, err)
		}
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return nil
}
