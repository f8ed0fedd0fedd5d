package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/drover-video/drover/core/event"
)

const (
	// heartbeat keeps proxies from closing a stream of which nothing comes.
	heartbeat = 15 * time.Second
	// maxEvents is the most in one answer.
	maxEvents = 1000
)

// Event is something that happened.
type Event struct {
	ID     uint64    `json:"id" doc:"Grows, over restarts too"`
	Time   timestamp `json:"time"`
	Kind   string    `json:"kind" example:"camera.state"`
	Camera string    `json:"camera"`
	Source string    `json:"source,omitempty" doc:"Left out if it is of the camera as a whole"`
	State  string    `json:"state,omitempty" doc:"Of kind camera.state"`
	Reason string    `json:"reason,omitempty"`

	Detection *DetectionEvent `json:"detection,omitempty" doc:"Of kinds detection.began and detection.ended"`
}

// EventList is part of the history.
type EventList struct {
	Events []Event `json:"events" nullable:"false" doc:"Oldest first"`
	Last   uint64  `json:"last" doc:"Ask for what came after this"`
	Missed uint64  `json:"missed" doc:"Events that are no longer kept"`
}

type eventsRequest struct {
	Accept string `header:"Accept" doc:"text/event-stream for live events"`
	LastID string `header:"Last-Event-ID" maxLength:"32" doc:"Go on after this, in a stream"`
	After  uint64 `query:"after" doc:"Only what came after this id; without it the newest events, or in a stream those to come"`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Camera string `query:"camera" maxLength:"63" doc:"Only those of this camera"`
}

func (rs *routes) registerEvents(api huma.API) {
	op := operation("list-events", http.MethodGet, "/api/v1/events", "What happened lately; live with Accept: text/event-stream", http.StatusTooManyRequests)
	op.Tags = []string{"events"}
	list := api.OpenAPI().Components.Schemas.Schema(typeOf[EventList](), true, "EventList")
	one := api.OpenAPI().Components.Schemas.Schema(typeOf[Event](), true, "Event")
	op.Responses = map[string]*huma.Response{"200": {
		Description: "History, or a stream that does not end: each message's data is an Event, and a message of type missed says how many are lost",
		Content:     map[string]*huma.MediaType{"application/json": {Schema: list}, "text/event-stream": {Schema: one}},
	}}
	huma.Register(api, op, rs.events)
}

func (rs *routes) events(_ context.Context, in *eventsRequest) (*huma.StreamResponse, error) {
	if !strings.Contains(in.Accept, "text/event-stream") {
		return &huma.StreamResponse{Body: func(ctx huma.Context) { rs.history(ctx, in) }}, nil
	}
	select {
	case rs.streams <- struct{}{}:
	default:
		return nil, huma.ErrorWithHeaders(
			problem(problemBusy, "too many listen already: try again in a moment"), http.Header{"Retry-After": {"10"}})
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		defer func() { <-rs.streams }()
		rs.stream(ctx, in)
	}}, nil
}

func (in *eventsRequest) wants(e event.Event) bool { return in.Camera == "" || in.Camera == e.Camera }

func eventOf(e event.Event) Event {
	out := Event{ID: e.ID, Time: timestamp(e.Time), Kind: string(e.Kind), Camera: e.Camera,
		Source: e.Source, State: string(e.State), Reason: e.Reason}
	if e.Detection != nil {
		found := detectionEventOf(e.Detection)
		out.Detection = &found
	}
	return out
}

func (rs *routes) history(ctx huma.Context, in *eventsRequest) {
	batch := rs.options.Events.Newest(maxEvents)
	if in.After > 0 {
		batch = rs.options.Events.After(in.After, maxEvents)
	}
	list := EventList{Events: []Event{}, Last: batch.Last, Missed: batch.Missed}
	for _, e := range batch.Events {
		if in.wants(e) {
			list.Events = append(list.Events, eventOf(e))
		}
	}
	if cut := len(list.Events) - in.Limit; cut > 0 && in.After > 0 {
		list.Events = list.Events[:in.Limit]
		list.Last = list.Events[in.Limit-1].ID
	} else if cut > 0 {
		list.Events = list.Events[cut:]
	}
	ctx.SetHeader("Content-Type", "application/json")
	ctx.SetStatus(http.StatusOK)
	// The error is that of a client that is gone.
	_ = json.NewEncoder(ctx.BodyWriter()).Encode(list)
}

// stream sends events until the client leaves or the server stops.
func (rs *routes) stream(ctx huma.Context, in *eventsRequest) {
	request, writer := humachi.Unwrap(ctx)
	ctx.SetHeader("Content-Type", "text/event-stream")
	ctx.SetHeader("X-Accel-Buffering", "no") // For nginx.
	ctx.SetStatus(http.StatusOK)
	if request.Method == http.MethodHead {
		return
	}
	// Before the first byte: who has that hears all that happens from then on.
	last := rs.options.Events.Newest(0).Last
	if id, err := strconv.ParseUint(in.LastID, 10, 64); err == nil {
		last = id
	} else if in.After > 0 {
		last = in.After
	}
	flush := http.NewResponseController(writer).Flush
	if _, err := io.WriteString(writer, "retry: 2000\n\n"); err != nil || flush() != nil {
		return
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		batch := rs.options.Events.After(last, maxEvents)
		last = batch.Last
		text := appendMessages(nil, batch, in)
		if len(text) == 0 {
			select {
			case <-request.Context().Done():
				return
			case <-batch.Changed:
				continue
			case <-beat.C:
				text = append(text, ":\n\n"...)
			}
		}
		if _, err := writer.Write(text); err != nil || flush() != nil {
			return
		}
	}
}

func appendMessages(dst []byte, batch event.Batch, in *eventsRequest) []byte {
	if batch.Missed > 0 {
		dst = fmt.Appendf(dst, "event: missed\ndata: {\"missed\":%d}\n\n", batch.Missed)
	}
	for _, e := range batch.Events {
		if !in.wants(e) {
			continue
		}
		data, err := json.Marshal(eventOf(e))
		if err != nil { // A struct of texts and numbers has no way to fail.
			continue
		}
		dst = fmt.Appendf(dst, "id: %d\ndata: %s\n\n", e.ID, data)
	}
	return dst
}
