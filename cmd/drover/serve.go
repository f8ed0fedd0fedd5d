package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/drover-video/drover/ai/ws"
	"github.com/drover-video/drover/api"
	"github.com/drover-video/drover/archive"
	"github.com/drover-video/drover/core/admission"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/cmcd"
	"github.com/drover-video/drover/core/config"
	"github.com/drover-video/drover/core/event"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/memfile"
	"github.com/drover-video/drover/core/metrics"
	"github.com/drover-video/drover/core/ring"
	"github.com/drover-video/drover/core/share"
	"github.com/drover-video/drover/core/store"
	"github.com/drover-video/drover/core/wire"
	"github.com/drover-video/drover/hls"
	"github.com/drover-video/drover/ingest/rtsp"
	"github.com/drover-video/drover/web"
)

// keptEvents is how many events the history holds.
const keptEvents = 4096

func newServe() *cobra.Command {
	var profile string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Starts the server",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			logger, err := newLogger(c.Log, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return serve(cmd.Context(), c, logger, profile)
		},
	}
	addConfigFlags(cmd)
	cmd.Flags().StringVar(&profile, "pprof", "", "serve Go's profiles on this loopback address, for developers")
	return cmd
}

// serve assembles the server and runs it until ctx ends.
func serve(ctx context.Context, c *config.Config, logger *slog.Logger, profile string) error {
	openFiles := raiseFileLimit()
	listener, err := wire.Listen(ctx, c.HTTP.Address, c.HTTP.CongestionControl, c.HTTP.WriteTimeout)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w: end what listens there, or choose another by --http.address", c.HTTP.Address, cause(err))
	}
	defer listener.Close()
	secure, err := api.NewTLS(c.HTTP, filepath.Join(c.Data.Dir, "acme"), logger)
	if err != nil {
		return err
	}
	db, err := store.Open(ctx, c.Data.Dir, time.Now)
	if err != nil {
		return fmt.Errorf("cannot open the data in %s (data.dir): %w", c.Data.Dir, err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			logger.Error("closing the data", "err", err)
		}
	}()
	// Connections have the most of what may be open.
	files := memfile.NewBudget(openFiles/4, c.HLS.KernelBytes)
	seen := &detections{} // filled below; nothing is asked of it before cameras are pulled
	hub, err := hls.New(hls.Config{
		Seen:            seen,
		SegmentDuration: c.HLS.SegmentDuration, Window: c.HLS.Window, PartDuration: c.HLS.PartDuration, OnDemand: c.HLS.OnDemand, Files: files, Epochs: db, Log: logger,
	})
	if err != nil {
		return err
	}
	defer hub.Close()
	pool := media.NewPool()
	events := event.New(keptEvents, time.Now)
	options := cameraOptions(c, pool, logger)
	options.Store, options.Outputs = db, []camera.Output{hub}
	var registry *camera.Registry
	recorder, err := openArchive(ctx, c, events, func(id string) { registry.Want(id) }, logger)
	if err != nil {
		return err
	}
	if recorder != nil {
		defer func() {
			if err := recorder.Close(); err != nil {
				logger.Error("closing the archive", "err", err)
			}
		}()
		options.Outputs = append(options.Outputs, recorder)
		options.SpecChanged, options.Removed = recorder.SetSpec, recorder.Removed
	}
	options.StateChanged = func(c camera.Change) {
		events.Publish(event.Event{Time: c.At, Kind: event.KindCameraState, Camera: c.Camera, Source: c.Source, State: c.State, Reason: c.Reason})
		if c.State == camera.StateBackoff || c.State == camera.StateStalled {
			hub.Away(c.Camera, c.Source)
		}
		if recorder != nil {
			recorder.StateChanged(c)
		}
	}
	if err := seen.open(ctx, c, events, func() *camera.Registry { return registry }, recorder, logger); err != nil {
		return err
	}
	defer seen.close(logger)
	if seen.desk != nil {
		options.Outputs = append(options.Outputs, seen.desk)
	}
	forget := options.Removed
	options.Removed = func(id string) {
		if forget != nil {
			forget(id)
		}
		seen.removed(id)
	}
	tap, err := openTap(ctx, c, func() *camera.Registry { return registry }, seen.reports(), logger)
	if err != nil {
		return err
	}
	defer tap.close()
	options.Outputs = append(options.Outputs, tap.hub)
	registry, err = camera.NewRegistry(ctx, options, c.Cameras)
	if err != nil {
		return err
	}
	shares, err := share.Open(ctx, db, time.Now)
	if err != nil {
		return fmt.Errorf("cannot read the shares in %s (data.dir): %w", c.Data.Dir, err)
	}
	gate := admission.New(admission.Limits{
		Viewers: c.HLS.MaxViewers, CameraViewers: c.HLS.MaxCameraViewers, Bitrate: c.HLS.MaxBitrate, CameraBitrate: c.HLS.MaxCameraBitrate,
	}, hub, time.Now)
	players := cmcd.NewLedger(time.Now)
	counters := new(api.ConnectionCounters)
	copies, err := openSecondHome(ctx, c, recorder, events, logger)
	if err != nil {
		return err
	}
	defer copies.close()
	playback, err := openPlayback(recorder, copies, registry, seen, c, logger)
	if err != nil {
		return err
	}
	defer playback.close()
	handler, err := api.New(api.Options{
		Detections: seen.api(), Stills: tap, Tap: ws.New(tap.hub, logger),
		Recorder: apiRecorder(recorder), Archive: playback.catalog, Recorded: playback.handler,
		Cameras: registry, Events: events, Shares: shares, Viewers: func(id string) int { return hub.Viewers(id) + playback.viewers(id) }, Troubles: hub.Troubles, Pictures: registry,
		Prober:  prober{cameraOptions(c, pool, logger)},
		Checks:  []api.Check{{Name: "store", Run: db.Ready}},
		Media:   hls.NewHandler(lookup{registry, hub}, nil),
		Gate:    gate,
		Players: players,
		Web:     web.Handler(),
		Metrics: metrics.Handler(version, func() metrics.Snapshot {
			return snapshot(registry, hub, pool, players, gate, counters, files, tap, seen, copies, recorder)
		}),
		Version: version, Log: logger, WriteTimeout: c.HTTP.WriteTimeout,
		CheckHosts: c.Auth.Mode == "", AllowedHosts: c.HTTP.AllowedHosts,
	})
	if err != nil {
		return err
	}
	scheme := "http://"
	if secure != nil {
		scheme = "https://"
	}
	logger.Info("serving", "address", scheme+listener.Addr().String(), "data", c.Data.Dir, "version", version, "open_files", openFiles)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return registry.Run(ctx) })
	group.Go(func() error { return tap.run(ctx) })
	group.Go(func() error { return seen.run(ctx) })
	if recorder != nil {
		group.Go(func() error { return recorder.Run(ctx) })
	}
	group.Go(func() error { return copies.run(ctx) })
	group.Go(func() error { return api.Serve(ctx, listener, handler, c.HTTP, secure, counters, logger) })
	if profile != "" {
		group.Go(func() error { return serveProfiles(ctx, profile) })
	}
	err = group.Wait()
	logger.Info("stopped")
	return err
}

// cameraOptions are what pulling a camera needs of the configuration.
func cameraOptions(c *config.Config, pool *media.Pool, logger *slog.Logger) camera.Options {
	return camera.Options{
		Open:       rtsp.Open(rtsp.Options{UserAgent: "Drover/" + version, WithoutFLAC: !c.Ingest.AudioFLAC}),
		Pool:       pool,
		Ring:       ring.Limits{MaxBytes: int(c.Ring.MaxBytes), MaxDuration: c.Ring.MaxDuration, Buffer: c.Ring.SubscriberFrames},
		Dials:      camera.NewDialLimit(c.Ingest.DialLimit),
		Logger:     logger,
		BackoffMin: c.Ingest.BackoffMin, BackoffMax: c.Ingest.BackoffMax,
		StallTimeout: c.Ingest.StallTimeout, IdleAfter: c.Ingest.IdleAfter,
	}
}

// lookup finds the HLS of cameras, and tells those pulled on demand that somebody
// asks. One that is switched off or idle is known all the same.
type lookup struct {
	registry *camera.Registry
	hub      *hls.Hub
}

// Lookup implements hls.Cameras.
func (l lookup) Lookup(id string) (*hls.Camera, bool) {
	l.registry.Want(id)
	if c, ok := l.hub.Lookup(id); ok {
		return c, true
	}
	return nil, l.registry.Known(id)
}

// Await implements hls.Cameras: a camera that is switched off is not waited for.
func (l lookup) Await(id string) (*hls.Place, bool) {
	if view, ok := l.registry.Get(id); !ok || view.Status.State == camera.StateDisabled {
		return nil, false
	}
	return l.hub.Await(id)
}

// snapshot gathers what is counted, for metrics.
func snapshot(registry *camera.Registry, hub *hls.Hub, pool *media.Pool, players *cmcd.Ledger, gate *admission.Gate, counters *api.ConnectionCounters, files *memfile.Budget, tap *tap, seen *detections, copies *secondHome, recorder *archive.Recorder) metrics.Snapshot {
	stats := pool.Stats()
	s := metrics.Snapshot{PoolUsedBytes: stats.UsedBytes, PoolIdleBytes: stats.IdleBytes}
	s.Serving.MemoryFiles, s.Serving.MemoryFileBytes = files.Used()
	s.Serving.Wire = counters.Wire.Stats()
	s.Tap = tap.metrics()
	s.SecondHome = copies.metrics()
	s.Detections = seen.metrics()
	s.Archive = archiveMetrics(recorder)
	s.Refused = map[string]uint64{"connections": counters.All.Load(), "address_connections": counters.Address.Load()}
	for reason, n := range gate.Refused() {
		s.Refused[string(reason)] = n
	}
	for _, view := range registry.List() {
		c := metrics.Camera{ID: view.Spec.ID, State: view.Status.State}
		served, _ := hub.Stats(c.ID)
		c.Viewers, c.Requests, c.Sent = served.Viewers, served.Requests, served.SentBytes
		c.Players = players.Figures(c.ID)
		for _, source := range registry.Counters(c.ID) {
			m := sourceMetrics(source)
			for _, muxer := range served.Sources {
				if muxer.Source == source.Name {
					m.HLSDrops = muxer.Dropped
					m.HLS = metrics.HLS{HeldBytes: muxer.HeldBytes, Segments: muxer.Segments, Restarts: muxer.Restarts,
						Live: muxer.Live, Parts: muxer.Parts, LiveRestarts: muxer.LiveRestarts}
				}
			}
			c.Sources = append(c.Sources, m)
		}
		s.Cameras = append(s.Cameras, c)
	}
	return s
}

func sourceMetrics(c camera.SourceCounters) metrics.Source {
	s := metrics.Source{
		Name: c.Name, Frames: c.Frames, Bytes: c.BytesIn, LostPackets: c.LostPackets,
		Reordered: c.ReorderedPackets, Dropped: c.KernelDroppedPackets,
		Reconnects: c.Reconnects, RingBytes: int64(c.Ring.Bytes), Discards: c.Discards,
	}
	for _, sub := range c.Subscribers {
		s.Drops = append(s.Drops,
			metrics.Drop{Subscriber: sub.Name, Reason: "full", Frames: sub.DroppedFull},
			metrics.Drop{Subscriber: sub.Name, Reason: "awaiting_keyframe", Frames: sub.DroppedAwaiting})
	}
	return s
}

// serveProfiles serves Go's profiles until ctx ends, on loopback only: they tell
// what is in memory.
func serveProfiles(ctx context.Context, address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--pprof: %w", err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return errors.New("--pprof: the address must be of loopback, for example 127.0.0.1:6060")
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("--pprof: %w", err)
	}
	return nil
}
