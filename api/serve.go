package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/drover-video/drover/core/config"
	"github.com/drover-video/drover/core/wire"
)

// Serve answers on the listener until ctx ends. Then the contexts of all
// requests end, so that those who wait stop waiting; answers under way have
// limits.ShutdownGrace; what is left after it is cut off. It closes the listener.
// Connections above the limits are refused. What has come of all is in counters.
// With secure it speaks HTTPS; without, most requests for media are answered ahead
// of net/http.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, limits config.HTTP, secure *tls.Config, counters *ConnectionCounters, log *slog.Logger) error {
	ctx, stopRefusing := context.WithCancel(ctx)
	open := newConnections(ctx, listener, limits.MaxConnections, limits.MaxConnectionsPerAddress, secure, counters)
	defer func() {
		stopRefusing()
		open.refusals.Wait()
	}()
	options := wire.Options{
		Patience: limits.WriteTimeout, Counters: &counters.Wire, Closed: open.leave,
		ReadHeaderTimeout: limits.ReadHeaderTimeout, IdleTimeout: limits.IdleTimeout, Context: ctx, Log: log,
	}
	if secure == nil {
		options.Handler, options.Prefixes = handler, []string{mediaPrefix, recordedPrefix, sharedPrefix}
	}
	front := wire.NewListener(open, options)
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: limits.ReadHeaderTimeout,
		IdleTimeout:       limits.IdleTimeout,
		MaxHeaderBytes:    limits.MaxHeaderBytes,
		TLSConfig:         secure,
		Protocols:         protocols(secure != nil),
		HTTP2:             http2Config(limits),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		// What it has to say is about single clients.
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	// There is no WriteTimeout and no ReadTimeout: they are of a whole answer or
	// request. The handler moves deadlines on while there is progress.
	ended := make(chan error, 1)
	go func() {
		if secure != nil {
			ended <- server.ServeTLS(front, "", "")
		} else {
			ended <- server.Serve(front)
		}
	}()
	select {
	case err := <-ended:
		stopRefusing()
		_ = front.Shutdown(context.Background()) // nobody waits any more
		return fmt.Errorf("serve HTTP on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.ShutdownGrace)
	defer cancel()
	err := server.Shutdown(grace)
	if err != nil {
		err = server.Close()
	}
	_ = front.Shutdown(grace) // there too, what is left after it is cut off
	<-ended                   // It is http.ErrServerClosed.
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("stop HTTP: %w", err)
	}
	return nil
}
