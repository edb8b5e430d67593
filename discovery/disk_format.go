// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"
)

// diskFormat is the version of the disk copy's format. A file of another one is
// not used, and is replaced by the next save.
const diskFormat = 1

// savedFile is a whole file. The checksum is over the compact form of the
// body, so that an operator may re-indent a file without breaking it.
type savedFile struct {
	Format   int             `json:"format"`
	Checksum string          `json:"checksum"`
	Body     json.RawMessage `json:"body"`
}

// savedService is the body of a file.
type savedService struct {
	Service     string         `json:"service"`
	Prefix      string         `json:"prefix"`
	ClusterName string         `json:"cluster_name"` // save fills it in
	ClusterID   clusterID      `json:"cluster_id"`
	Revision    int64          `json:"revision"`
	Known       bool           `json:"known"` // an instance was seen at some time
	ProvedAt    time.Time      `json:"proved_at"`
	SavedAt     time.Time      `json:"saved_at"`
	Records     []savedRecord  `json:"records"`
	Suspects    []savedSuspect `json:"suspects,omitempty"`
	Rules       []savedRecord  `json:"rules,omitempty"`
}

// savedRecord is a key of etcd with its value, an instance record or a rule.
type savedRecord struct {
	Key         string          `json:"key"`
	ModRevision int64           `json:"mod_revision"`
	Value       json.RawMessage `json:"value"`
}

// savedSuspect is an instance that vanished from etcd without a goodbye, with
// the record that it had there.
type savedSuspect struct {
	savedRecord
	VanishedAt time.Time `json:"vanished_at"`
}

// clusterID is written in hexadecimal, as etcdctl shows it; JSON's numbers
// would not hold it exactly.
type clusterID uint64

// MarshalText implements encoding.TextMarshaler.
func (c clusterID) MarshalText() ([]byte, error) {
	return strconv.AppendUint(nil, uint64(c), 16), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *clusterID) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	*c = clusterID(n)
	return err
}

// encode returns the file's content. It refuses what decode would refuse: the
// writer is there to hear of it, the reader has only the file.
func (d *diskCopy) encode(s *savedService) ([]byte, error) {
	named := *s
	named.ClusterName = d.cluster
	named.ProvedAt, named.SavedAt = s.ProvedAt.UTC(), s.SavedAt.UTC()
	if err := d.check(&named, s.Service); err != nil {
		return nil, err
	}
	body, err := compactJSON(&named)
	if err != nil {
		return nil, err
	}
	whole, err := compactJSON(savedFile{Format: diskFormat, Checksum: checksum(body), Body: body})
	if err != nil {
		return nil, err
	}
	indented := bytes.Buffer{}
	err = json.Indent(&indented, whole, "", " ")
	return append(indented.Bytes(), '\n'), err
}

// compactJSON is json.Marshal without its escapes for HTML: values stay as they
// are in etcd, and can be read.
func compactJSON(v any) ([]byte, error) {
	b := bytes.Buffer{}
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// decode returns the body of a file of the service, or an error that wraps
// ErrInvalidSnapshot.
func (d *diskCopy) decode(content []byte, service string) (*savedService, error) {
	s, err := parseSaved(content)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidSnapshot, err)
	}
	if err := d.check(s, service); err != nil {
		return nil, err
	}
	return s, nil
}

func parseSaved(content []byte) (*savedService, error) {
	file := savedFile{}
	if err := json.Unmarshal(content, &file); err != nil {
		return nil, err
	}
	if file.Format != diskFormat {
		return nil, fmt.Errorf("format %d, this version reads %d", file.Format, diskFormat)
	}
	compact := bytes.Buffer{}
	if err := json.Compact(&compact, file.Body); err != nil {
		return nil, err
	}
	if want := checksum(compact.Bytes()); file.Checksum != want {
		return nil, fmt.Errorf("checksum %q, expected %q", file.Checksum, want)
	}
	s := &savedService{}
	return s, json.Unmarshal(compact.Bytes(), s) // with values as short as they were
}

func checksum(compact []byte) string {
	return fmt.Sprintf("xxh64:%016x", xxhash.Sum64(compact))
}
