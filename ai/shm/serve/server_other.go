//go:build !linux

package serve

import "context"

// Server is there on Linux only.
type Server struct{}

// Listen is there on Linux only: the error is ErrUnsupported.
func Listen(Options) (*Server, error) { return nil, ErrUnsupported }

// Close is never called.
func (*Server) Close() error { return nil }

// Serve is never called.
func (*Server) Serve(context.Context) error { return ErrUnsupported }
