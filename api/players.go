package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/drover-video/drover/core/cmcd"
)

// Players is the ledger of what players say about playback.
type Players interface {
	Add(camera string, reports []cmcd.Report)
	Figures(camera string) cmcd.Figures
	Forget(camera string)
}

// collectorName is what players post their reports to, beside a camera's playlists:
// who may watch may report, by a link too.
const collectorName = "cmcd"

// collect takes a batch of reports in the event mode of CMCD.
func (f *front) collect(a *answer, r *http.Request, camera string) {
	header := a.Header()
	allowAnyOrigin(header)
	header.Set("Cache-Control", "no-store")
	switch r.Method {
	case http.MethodPost:
	case http.MethodOptions:
		header.Set("Access-Control-Allow-Methods", "POST, OPTIONS")
		header.Set("Access-Control-Allow-Headers", "Content-Type")
		header.Set("Access-Control-Max-Age", "86400")
		a.WriteHeader(http.StatusNoContent)
		return
	default:
		header.Set("Allow", "POST, OPTIONS")
		writeProblem(a, problem(problemMethod, "players post their reports here"))
		return
	}
	if _, known := f.options.Cameras.Get(camera); !known {
		writeProblem(a, noCamera(camera))
		return
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/cmcd" && kind != "text/plain" {
		writeProblem(a, problem(problemMediaType, "send reports as Content-Type: application/cmcd"))
		return
	}
	batch, err := io.ReadAll(http.MaxBytesReader(a, r.Body, cmcd.MaxBatchBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		writeProblem(a, problem(problemTooLarge, fmt.Sprintf("a batch of reports has at most %d bytes", cmcd.MaxBatchBytes)))
		return
	case err != nil:
		writeProblem(a, problem(problemTimeout, "the reports did not come in whole"))
		return
	}
	reports, err := cmcd.Parse(batch)
	if err != nil {
		writeProblem(a, problem(problemMalformed, err.Error()))
		return
	}
	f.options.Players.Add(camera, reports)
	a.WriteHeader(http.StatusNoContent)
}

// Playback is what players have said about a camera.
type Playback struct {
	Players      int          `json:"players" doc:"That report, and have done so in the last minute and a half"`
	Playing      int          `json:"playing" doc:"Of them, those whose picture moves"`
	Stalled      int          `json:"stalled" doc:"Of them, those that wait for more in the middle of it"`
	Latency      LatencyStats `json:"latency" doc:"From the camera to the screen, of the players there now"`
	BitrateBPS   int64        `json:"bitrate_bps" doc:"Mean of what is played now; 0 where nobody says"`
	Starts       uint64       `json:"starts" doc:"Pictures that came, since the server started"`
	StartSeconds float64      `json:"start_seconds" doc:"Mean time that they took to come"`
	Stalls       uint64       `json:"stalls"`
	StallSeconds float64      `json:"stall_seconds" doc:"Sum"`
	Errors       []ErrorCount `json:"errors" nullable:"false"`
	Reports      uint64       `json:"reports"`
}

// LatencyStats is how late pictures are.
type LatencyStats struct {
	P50Seconds float64 `json:"p50_seconds" doc:"0 where nobody says"`
	P95Seconds float64 `json:"p95_seconds"`
}

// ErrorCount is how often players told of an error.
type ErrorCount struct {
	Code  string `json:"code" doc:"The player's own"`
	Count uint64 `json:"count"`
}

func (rs *routes) registerPlayback(api huma.API) {
	op := operation("get-playback", http.MethodGet, "/api/v1/cameras/{id}/playback", "What players have said about a camera", http.StatusNotFound)
	huma.Register(api, op, rs.playback)
}

func (rs *routes) playback(_ context.Context, in *cameraPath) (*struct{ Body Playback }, error) {
	if _, known := rs.options.Cameras.Get(in.ID); !known {
		return nil, noCamera(in.ID)
	}
	f := rs.options.Players.Figures(in.ID)
	p := Playback{
		Players: f.Players, Playing: f.Playing, Stalled: f.Stalled, BitrateBPS: f.Bitrate, Reports: f.Reports,
		Latency: LatencyStats{P50Seconds: thousandths(f.Latencies.P50.Seconds()), P95Seconds: thousandths(f.Latencies.P95.Seconds())},
		Starts:  f.Starts, Stalls: f.Stalls, StallSeconds: thousandths(f.StallTime.Seconds()), Errors: []ErrorCount{},
	}
	if f.Starts > 0 {
		p.StartSeconds = thousandths(f.StartTime.Seconds() / float64(f.Starts))
	}
	for _, code := range slices.Sorted(maps.Keys(f.Errors)) {
		p.Errors = append(p.Errors, ErrorCount{Code: code, Count: f.Errors[code]})
	}
	return &struct{ Body Playback }{p}, nil
}
