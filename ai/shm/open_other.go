//go:build !linux

package shm

import (
	"context"
	"errors"

	"github.com/drover-video/drover/ai/schema"
)

// Conn is there on Linux only.
type Conn struct{ *Reader }

// Refusal is the server's word that nothing comes, or nothing any more.
type Refusal struct{ Code, Message string }

// Error implements error.
func (r *Refusal) Error() string { return r.Message }

// Open is there on Linux only.
func Open(context.Context, string, *schema.WatchRequest) (*Conn, error) {
	return nil, errors.New("shared memory: not on this system: take frames by gRPC")
}

// Next is never called.
func (c *Conn) Next(context.Context) (Item, error) { return Item{}, errors.ErrUnsupported }

// Close is never called.
func (c *Conn) Close() error { return nil }
