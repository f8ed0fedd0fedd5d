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
)

// Serve answers on the listener until ctx ends. Then the contexts of all
// requests end, so that those who wait stop waiting; answers under way have
// limits.ShutdownGrace; what is left after it is cut off. It closes the listener.
// Connections above the limits are refused, and counted in refused. With secure it
// speaks HTTPS.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, limits config.HTTP, secure *tls.Config, refused *ConnectionCounters, log *slog.Logger) error {
	ctx, stopRefusing := context.WithCancel(ctx)
	open := newConnections(ctx, listener, limits.MaxConnections, limits.MaxConnectionsPerAddress, secure, refused)
	defer func() {
		stopRefusing()
		open.refusals.Wait()
	}()
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: limits.ReadHeaderTimeout,
		IdleTimeout:       limits.IdleTimeout,
		MaxHeaderBytes:    limits.MaxHeaderBytes,
		TLSConfig:         secure,
		Protocols:         protocols(secure != nil),
		HTTP2:             http2Config(limits),
		ConnState:         open.connState,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		// What it has to say is about single clients.
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	// There is no WriteTimeout and no ReadTimeout: they are of a whole answer or
	// request. The handler moves deadlines on while there is progress.
	ended := make(chan error, 1)
	go func() {
		if secure != nil {
			ended <- server.ServeTLS(open, "", "")
		} else {
			ended <- server.Serve(open)
		}
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("serve HTTP on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.ShutdownGrace)
	defer cancel()
	err := server.Shutdown(grace)
	if err != nil {
		err = server.Close()
	}
	<-ended // It is http.ErrServerClosed.
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("stop HTTP: %w", err)
	}
	return nil
}
