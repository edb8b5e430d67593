// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
)

// diskFormat is the version of the disk copy's format; files of a newer one
// are left alone.
const diskFormat = 1

// ErrInvalidSnapshot is wrapped by the errors about a disk copy that cannot be
// used: damaged, of another service or cluster, or of a newer format.
var ErrInvalidSnapshot = errors.New("fairway: invalid disk copy")

// diskCopy keeps one file per service of one cluster name and prefix.
type diskCopy struct {
	dir     string
	cluster string
	prefix  string
}

// savedService is the body of a file.
type savedService struct {
	Service     string         `json:"service"`
	Prefix      string         `json:"prefix"`
	ClusterName string         `json:"cluster_name"`
	ClusterID   clusterID      `json:"cluster_id"`
	Revision    int64          `json:"revision"`
	Known       bool           `json:"known"` // an instance was seen at some time
	ProvedAt    time.Time      `json:"proved_at"`
	SavedAt     time.Time      `json:"saved_at"`
	Records     []savedRecord  `json:"records"`
	Rules       []savedRecord  `json:"rules,omitempty"`
	Suspects    []savedSuspect `json:"suspects,omitempty"`
}

type savedSuspect struct {
	Key         string          `json:"key"`
	ModRevision int64           `json:"mod_revision"`
	Value       json.RawMessage `json:"value"`
	VanishedAt  time.Time       `json:"vanished_at"`
}

type savedRecord struct {
	Key         string          `json:"key"`
	ModRevision int64           `json:"mod_revision"`
	Value       json.RawMessage `json:"value"`
}

// clusterID is written in hexadecimal, as etcdctl shows it; JSON's numbers
// would not hold it exactly.
type clusterID uint64

func (c clusterID) MarshalText() ([]byte, error) {
	return strconv.AppendUint(nil, uint64(c), 16), nil
}

func (c *clusterID) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	*c = clusterID(n)
	return err
}

// savedFile is a whole file. The checksum is over the compact form of the
// body, so that an operator may re-indent a file without breaking it.
type savedFile struct {
	Format   int             `json:"format"`
	Checksum string          `json:"checksum"`
	Body     json.RawMessage `json:"body"`
}

// newDiskCopy prepares the folder <dir>/<cluster>/<prefix, escaped>.
func newDiskCopy(dir, cluster, prefix string) (*diskCopy, error) {
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("no cache folder for the disk copy; name one with WithSnapshotDir: %w", err)
		}
		dir = filepath.Join(cache, "fairway")
	}
	d := &diskCopy{dir: filepath.Join(dir, fileName("c-"+cluster), fileName("p-"+prefix)), cluster: cluster, prefix: prefix}
	if err := d.makeDir(); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *diskCopy) makeDir() error {
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return fmt.Errorf("folder of the disk copy: %w", err)
	}
	return nil
}

func (d *diskCopy) file(service string) string {
	return filepath.Join(d.dir, fileName("s-"+service)+".json")
}

// maxFileName leaves room below the 255 bytes of most file systems.
const maxFileName = 200

// fileName escapes what some file system gives a meaning of its own; capital
// letters too, since some fold case, and a dot at the end, which Windows drops.
// The prefixes that callers put in front keep names from being those of its
// devices. Different names become different ones; where one would be too long,
// its end is replaced by a hash, and the file's header has the last word.
func fileName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_', c == '.' && i < len(name)-1:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	if escaped := b.String(); len(escaped) <= maxFileName {
		return escaped
	}
	return fmt.Sprintf("%s~%016x", b.String()[:maxFileName], xxhash.Sum64String(name))
}

// save writes the whole file beside its place, syncs and renames it, so that a
// reader or a crash finds the old file or the new one.
func (d *diskCopy) save(s *savedService) error {
	s.ClusterName = d.cluster
	if err := d.makeDir(); err != nil { // again: caches get cleaned
		return err
	}
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	whole, err := json.MarshalIndent(savedFile{Format: diskFormat, Checksum: checksum(body), Body: body}, "", " ")
	if err != nil {
		return err
	}
	return replaceFile(d.file(s.Service), append(whole, '\n'), 0o600)
}

func checksum(compact []byte) string {
	return fmt.Sprintf("xxh64:%016x", xxhash.Sum64(compact))
}

// load reads and checks a file. Its errors wrap fs.ErrNotExist or
// ErrInvalidSnapshot.
func (d *diskCopy) load(service string) (*savedService, error) {
	content, err := os.ReadFile(d.file(service))
	if err != nil {
		return nil, err
	}
	s, err := parseSaved(content)
	if err != nil {
		return nil, err
	}
	if s.Service != service || s.Prefix != d.prefix || s.ClusterName != d.cluster {
		return nil, fmt.Errorf("%w: it is of service %q under %q of cluster %q", ErrInvalidSnapshot,
			s.Service, s.Prefix, s.ClusterName)
	}
	return s, nil
}

func parseSaved(content []byte) (*savedService, error) {
	file := savedFile{}
	if err := json.Unmarshal(content, &file); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidSnapshot, err)
	}
	if file.Format != diskFormat {
		return nil, fmt.Errorf("%w: format %d, this version reads %d", ErrInvalidSnapshot, file.Format, diskFormat)
	}
	compact := bytes.Buffer{}
	if err := json.Compact(&compact, file.Body); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidSnapshot, err)
	}
	if want := checksum(compact.Bytes()); file.Checksum != want {
		return nil, fmt.Errorf("%w: checksum %q, expected %q", ErrInvalidSnapshot, file.Checksum, want)
	}
	s := &savedService{}
	if err := json.Unmarshal(file.Body, s); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidSnapshot, err)
	}
	return s, nil
}
