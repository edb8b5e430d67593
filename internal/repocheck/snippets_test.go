// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package repocheck

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// imports are the packages that a list of statements may use without saying so.
var imports = map[string]string{
	"context":     "context",
	"errors":      "errors",
	"fmt":         "fmt",
	"log":         "log",
	"net":         "net",
	"os":          "os",
	"slog":        "log/slog",
	"time":        "time",
	"client":      "github.com/cloudwego/kitex/client",
	"server":      "github.com/cloudwego/kitex/server",
	"clientv3":    "go.etcd.io/etcd/client/v3",
	"discovery":   "github.com/fairway-rpc/fairway/discovery",
	"loadbalance": "github.com/fairway-rpc/fairway/loadbalance",
	"middleware":  "github.com/fairway-rpc/fairway/middleware",
	"echo":        "github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo",
	"echoservice": "github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice",
}

// variables are what a list of statements may use without having made it.
const variables = `
var (
	ctx     context.Context
	etcd    *clientv3.Client
	reg     *discovery.Registry
	res     *discovery.Resolver
	lb      *loadbalance.Balancer
	cli     echoservice.Client
	svr     server.Server
	rules   *discovery.Rules
	handler echo.EchoService
)
`

// program makes a file of package main of a block of readme.
func program(b block, readme string) (string, error) {
	line := fmt.Sprintf("//line %s:%d\n", readme, b.line)
	if _, err := parser.ParseFile(token.NewFileSet(), "", b.code, parser.PackageClauseOnly); err == nil {
		return line + b.code, nil
	}
	body := "package main\n" + variables + "func main() {}\nfunc _() error {\n{\n" + line + b.code
	end := "}\nreturn nil\n}\n"
	tree, err := parser.ParseFile(token.NewFileSet(), "", body+end, 0)
	if err != nil {
		return "", fmt.Errorf("it is neither a file with a package clause nor a list of statements: %w", err)
	}
	body += uses(declared(tree)) + end
	return strings.Replace(body, "package main\n", "package main\n"+importsOf(tree), 1), nil
}

// importsOf writes the imports for the names that the file leaves unresolved.
func importsOf(tree *ast.File) string {
	var names []string
	for _, name := range tree.Unresolved {
		if _, known := imports[name.Name]; known {
			names = append(names, name.Name)
		}
	}
	slices.Sort(names)
	var text strings.Builder
	for _, name := range slices.Compact(names) {
		fmt.Fprintf(&text, "import %s %q\n", name, imports[name])
	}
	return text.String()
}

// declared returns the variables that the statements of the file's last
// function, which are in a block of their own, declare at their outermost level.
func declared(tree *ast.File) []string {
	last, _ := tree.Decls[len(tree.Decls)-1].(*ast.FuncDecl)
	inner, _ := last.Body.List[0].(*ast.BlockStmt)
	var names []string
	for _, statement := range inner.List {
		assign, ok := statement.(*ast.AssignStmt)
		if !ok || assign.Tok != token.DEFINE {
			continue
		}
		for _, left := range assign.Lhs {
			if name, ok := left.(*ast.Ident); ok && name.Name != "_" {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// uses keeps the compiler from refusing variables that a snippet only declares.
func uses(names []string) string {
	var text strings.Builder
	for _, name := range names {
		text.WriteString("_ = " + name + "\n")
	}
	return text.String()
}

// formatted reports whether gofmt would leave the block as it is.
func formatted(b block) bool {
	code, err := format.Source([]byte(b.code))
	return err == nil && bytes.Equal(code, []byte(b.code))
}

func TestProgram(t *testing.T) {
	whole := "// A comment.\npackage main\n\nfunc main() {}\n"
	if got, err := program(block{line: 7, code: whole}, "README.md"); err != nil || got != "//line README.md:7\n"+whole {
		t.Errorf("a whole file became %q, %v", got, err)
	}
	got, err := program(block{line: 7, code: "lb, err := loadbalance.New(\"p2c\")\n"}, "README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"import loadbalance \"github.com/fairway-rpc/fairway/loadbalance\"\n",
		"//line README.md:7\nlb, err := loadbalance.New(\"p2c\")\n_ = lb\n_ = err\n}\nreturn nil\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the program has no %q:\n%s", want, got)
		}
	}
	if _, err := program(block{code: "func f() {\n"}, "README.md"); err == nil {
		t.Error("an open function is accepted")
	}
}
