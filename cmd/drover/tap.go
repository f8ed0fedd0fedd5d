package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/rpc"
	shared "github.com/drover-video/drover/ai/shm/serve"
	"github.com/drover-video/drover/ai/still"
	"github.com/drover-video/drover/api"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/config"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/metrics"
)

// tap is what AI workers take frames by.
type tap struct {
	hub      *feed.Hub
	rpc      *rpc.Server
	listener net.Listener   // of gRPC; nil: none
	shared   *shared.Server // of shared memory; nil: none
	logger   *slog.Logger
}

// openTap makes the tap, and listens. The registry need not be there yet.
func openTap(ctx context.Context, c *config.Config, registry func() *camera.Registry, reports rpc.Reports, logger *slog.Logger) (*tap, error) {
	hub, err := feed.New(feed.Options{Cameras: tapCameras{registry}, MaxWorkers: c.AI.MaxWorkers})
	if err != nil {
		return nil, err
	}
	server, err := rpc.New(rpc.Options{Hub: hub, Reports: reports, Log: logger})
	if err != nil {
		return nil, err
	}
	t := &tap{hub: hub, rpc: server, logger: logger}
	t.listenShared(c)
	if c.GRPC.Address == "" {
		return t, nil
	}
	t.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", c.GRPC.Address)
	switch {
	case err == nil:
		return t, nil
	case c.GRPC.Address == config.DefaultGRPCAddress:
		// Nobody chose it, and not everybody has workers: cameras go on without.
		logger.Warn("no AI worker can come by gRPC: set grpc.address to an address that is free", "err", err)
		return t, nil
	default:
		t.close()
		return nil, fmt.Errorf("cannot listen on %s: %w: end what listens there, or choose another by --grpc.address", c.GRPC.Address, err)
	}
}

// noSocket is the value of ai.socket for those who want none.
const noSocket = "none"

// listenShared makes the socket of shared memory. Where there is none, workers come by
// gRPC, and cameras go on.
func (t *tap) listenShared(c *config.Config) {
	path := c.AI.Socket
	switch path {
	case noSocket:
		return
	case "":
		path = filepath.Join(c.Data.Dir, "tap.sock")
	}
	server, err := shared.Listen(shared.Options{
		Hub: t.hub, Log: t.logger, Path: path, MaxWorkers: c.AI.MaxWorkers, MaxSets: c.AI.SharedSets, DataBytes: int(c.AI.SharedBytes),
	})
	switch {
	case errors.Is(err, shared.ErrUnsupported):
	case err != nil:
		t.logger.Warn("no AI worker can come by shared memory: set ai.socket to a file with a short name, or to none", "err", err)
	default:
		t.shared = server
	}
}

// close is for a tap that may not have run.
func (t *tap) close() {
	if t.listener != nil {
		t.listener.Close()
	}
	if t.shared != nil {
		t.shared.Close()
	}
}

// run serves workers until ctx ends.
func (t *tap) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return t.hub.Run(ctx) })
	if t.shared != nil {
		group.Go(func() error { return t.shared.Serve(ctx) })
	}
	if t.listener != nil {
		t.logger.Info("serving AI workers by gRPC", "grpc", t.listener.Addr().String())
		group.Go(func() error { return t.rpc.Serve(ctx, t.listener) })
	}
	return group.Wait()
}

// Still implements api.Stills.
func (t *tap) Still(id, source string, format api.FrameFormat) (api.StillFrame, error) {
	f, err := t.hub.Newest(id, source)
	if err != nil {
		return api.StillFrame{}, err
	}
	defer f.Release()
	s := api.StillFrame{
		Codec: string(f.Track.Codec), Source: t.hub.Source(id, source), Sequence: f.Seq, Epoch: f.Epoch, Wall: f.Wall,
	}
	switch {
	case f.Track.Codec == media.CodecJPEG:
		return s, api.ErrNoStill
	case format == api.FrameAnnexB:
		s.Data = still.AnnexB(f)
	default:
		if s.Data, err = still.MP4(f); err != nil {
			return s, fmt.Errorf("%w: %w", api.ErrNoStill, err)
		}
	}
	return s, nil
}

// metrics is what workers got, as it is shown.
func (t *tap) metrics() metrics.Tap {
	stats := t.hub.Stats()
	m := metrics.Tap{Refused: stats.Refused}
	for _, w := range stats.Workers {
		m.Workers = append(m.Workers, metrics.Worker{Name: w.Worker, Open: w.Open, Streams: w.Streams, Sent: w.Sent, Bytes: w.Bytes, Missed: w.Missed})
	}
	return m
}

// tapCameras is the registry as the tap sees it.
type tapCameras struct{ registry func() *camera.Registry }

// Sources implements feed.Cameras.
func (c tapCameras) Sources(id string) []string {
	view, ok := c.registry().Get(id)
	if !ok {
		return nil
	}
	names := make([]string, len(view.Spec.Sources))
	for i, source := range view.Spec.Sources {
		names[i] = source.Name
	}
	return names
}

// Want implements feed.Cameras.
func (c tapCameras) Want(id string) { c.registry().Want(id) }
