// Package ws serves the tap by WebSocket, for browsers and Node: each message is a
// schema.Message in binary. It is one handler, below the API and guarded by it.
package ws

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/coder/websocket"

	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/message"
	"github.com/drover-video/drover/ai/schema"
)

// How long a worker that takes no byte is waited for, and how often one is asked whether
// it is still there.
const (
	patience  = 2 * time.Minute
	pingEvery = 30 * time.Second
)

// Codes with which a connection is closed, beside those of RFC 6455: the HTTP status that
// the same would be, and 4000.
const (
	StatusRemoved websocket.StatusCode = 4404 // the cameras that were asked for have been removed
	StatusStopped websocket.StatusCode = 4503 // the server stops: come back in a moment
)

// Handler answers requests for the tap.
type Handler struct {
	hub *feed.Hub
	log *slog.Logger
}

// New returns a handler of hub's cameras.
func New(hub *feed.Hub, log *slog.Logger) *Handler { return &Handler{hub: hub, log: log} }

// ServeHTTP implements http.Handler. It returns when the worker has left.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	in, err := parse(r.URL.Query())
	if err != nil {
		refuse(w, err)
		return
	}
	request, err := feed.NewRequest(in)
	if err != nil {
		refuse(w, err)
		return
	}
	if r.Header.Get("Upgrade") == "" {
		w.Header().Set("Upgrade", "websocket")
		problem(w, http.StatusUpgradeRequired, "/problems/upgrade-required", "This is for WebSockets",
			"open this address as a WebSocket (ws:// or wss://), or take frames by gRPC")
		return
	}
	mailbox, err := h.hub.OpenMailbox(request)
	if err != nil {
		refuse(w, err)
		return
	}
	defer mailbox.Close()
	// Pages of other sites are refused: their Origin is not this Host.
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // it has been answered
	}
	defer conn.CloseNow()
	h.log.Info("a worker watches by WebSocket", "worker", request.Worker, "from", r.RemoteAddr, "cameras", len(request.Cameras), "all", len(request.Cameras) == 0)
	// It has nothing to say: whatever it says ends the connection. That does the server's
	// end not, which is still to be told.
	ctx, cancel := context.WithCancel(conn.CloseRead(context.WithoutCancel(r.Context())))
	defer cancel()
	defer context.AfterFunc(r.Context(), cancel)()
	err = serve(ctx, conn, mailbox)
	h.log.Info("a worker has left", "worker", request.Worker, "from", r.RemoteAddr, "reason", err)
	switch {
	case errors.Is(err, feed.ErrRemoved):
		_ = conn.Close(StatusRemoved, err.Error())
	case errors.Is(err, feed.ErrClosed), r.Context().Err() != nil:
		say(conn, StatusStopped, feed.ErrClosed.Error())
	}
}

// say closes a connection without waiting long for the worker to do so, too.
func say(conn *websocket.Conn, code websocket.StatusCode, reason string) {
	cut := time.AfterFunc(500*time.Millisecond, func() { _ = conn.CloseNow() })
	defer cut.Stop()
	_ = conn.Close(code, reason)
}

// serve sends what is in the mailbox.
func serve(ctx context.Context, conn *websocket.Conn, mailbox *feed.Mailbox) error {
	ctx, cancel := context.WithCancelCause(ctx)
	pinging := make(chan struct{})
	defer func() {
		cancel(nil)
		<-pinging
	}()
	go func() {
		defer close(pinging)
		cancel(ping(ctx, conn))
	}()
	var buffer []byte
	for {
		d, err := mailbox.Next(ctx)
		if err != nil {
			return err
		}
		buffer = message.Append(buffer[:0], &d)
		if d.Frame.Frame != nil {
			d.Frame.Release()
		}
		if err := send(ctx, conn, buffer); err != nil {
			return err
		}
	}
}

func send(ctx context.Context, conn *websocket.Conn, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return conn.Write(ctx, websocket.MessageBinary, data)
}

// errSilent is that a worker is gone without a word.
var errSilent = errors.New("the worker does not answer")

// ping asks a worker whether it is still there, until it is not, or ctx ends.
func ping(ctx context.Context, conn *websocket.Conn) error {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
		answer, cancel := context.WithTimeout(ctx, patience)
		err := conn.Ping(answer)
		cancel()
		if err != nil && ctx.Err() == nil {
			return errSilent
		}
	}
}

// parse reads a request's query, whose names are those of schema.WatchRequest.
func parse(query url.Values) (*schema.WatchRequest, error) {
	in := &schema.WatchRequest{Cameras: query["camera"], Source: query.Get("source"), Worker: query.Get("worker")}
	for name := range query {
		var err error
		value := query.Get(name)
		switch name {
		case "camera", "source", "worker":
		case "selection":
			in.Selection, err = oneOf(value, map[string]schema.Selection{"all": schema.Selection_SELECTION_ALL, "keyframes": schema.Selection_SELECTION_KEYFRAMES})
		case "format":
			in.Format, err = oneOf(value, map[string]schema.Format{"annex_b": schema.Format_FORMAT_ANNEX_B, "length_prefixed": schema.Format_FORMAT_LENGTH_PREFIXED})
		case "max_fps":
			in.MaxFps, err = strconv.ParseFloat(value, 64)
		case "audio":
			in.Audio, err = strconv.ParseBool(value)
		case "max_behind_ms":
			var ms uint64
			ms, err = strconv.ParseUint(value, 10, 32)
			in.MaxBehindMs = uint32(ms)
		default:
			err = errors.New("")
		}
		if err != nil {
			return nil, wrong{name}
		}
	}
	return in, nil
}

// wrong is a parameter that is unknown or has a value that it cannot have.
type wrong struct{ parameter string }

func (w wrong) Error() string {
	return "the parameter " + strconv.Quote(w.parameter[:min(len(w.parameter), 64)]) + " is unknown, or cannot have this value"
}

func oneOf[T any](value string, of map[string]T) (T, error) {
	v, ok := of[value]
	if !ok {
		return v, errors.ErrUnsupported
	}
	return v, nil
}

// refuse answers, before there is a WebSocket, why there is none.
func refuse(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, feed.ErrUnknownCamera):
		problem(w, http.StatusNotFound, "/problems/camera-not-found", "There is no such camera", err.Error())
	case errors.Is(err, feed.ErrTooMany), errors.Is(err, feed.ErrClosed):
		w.Header().Set("Retry-After", "10")
		problem(w, http.StatusServiceUnavailable, "/problems/no-room", "There is no room for another worker", err.Error())
	default:
		problem(w, http.StatusUnprocessableEntity, "/problems/invalid-request", "Something in the request is wrong", err.Error())
	}
}

// problem answers with problem details (RFC 9457), as the API does.
func problem(w http.ResponseWriter, status int, kind, title, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	// The error is that of a client that is gone.
	_ = json.NewEncoder(w).Encode(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}{kind, title, status, detail})
}
