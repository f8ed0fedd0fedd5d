package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/drover-video/drover/ai/rpc"
	"github.com/drover-video/drover/ai/shm/serve"
	"github.com/drover-video/drover/ai/ws"
)

// What the server process calls its places, in the folder that it is given.
const (
	socketName    = "tap.sock"
	grpcName      = "grpc.address"
	websocketName = "websocket.address"
)

// runServer is the process whose CPU is measured: cameras, their rings, and the tap in
// all ways.
func runServer(ctx context.Context, folder string, n int) error {
	c, err := newCameras(n)
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	server, err := rpc.New(rpc.Options{Hub: c.hub, Log: log})
	if err != nil {
		return err
	}
	shared, err := serve.Listen(serve.Options{Hub: c.hub, Log: log, Path: filepath.Join(folder, socketName)})
	if err != nil {
		return err
	}
	grpcListener, err := listen(folder, grpcName)
	if err != nil {
		return err
	}
	websocketListener, err := listen(folder, websocketName)
	if err != nil {
		return err
	}
	web := &http.Server{Handler: ws.New(c.hub, log), BaseContext: func(net.Listener) context.Context { return ctx }}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return c.run(ctx) })
	group.Go(func() error { return c.hub.Run(ctx) })
	group.Go(func() error { return server.Serve(ctx, grpcListener) })
	group.Go(func() error { return shared.Serve(ctx) })
	group.Go(func() error {
		defer context.AfterFunc(ctx, func() { web.Close() })()
		if err := web.Serve(websocketListener); err != http.ErrServerClosed {
			return err
		}
		return nil
	})
	return group.Wait()
}

// listen listens anywhere on loopback, and leaves the address in a file.
func listen(folder, name string) (net.Listener, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	// Renamed, for whoever waits for it must not find half of it.
	file := filepath.Join(folder, name)
	if err := os.WriteFile(file+".new", []byte(listener.Addr().String()), 0o600); err != nil {
		return nil, err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return nil, fmt.Errorf("address of %s: %w", name, err)
	}
	return listener, nil
}
