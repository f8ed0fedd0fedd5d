package hls

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// A problem is an error as RFC 9457 has it. All of them are made beforehand:
// a storm of bad requests must cost little.
type problem struct {
	status int
	body   []byte
	length []string

	cacheControl []string
	retryAfter   []string // nil: none
	allow        []string // nil: none
}

func newProblem(status int, kind, title, detail, cacheControl string) *problem {
	body, err := json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}{"/problems/" + kind, title, status, detail})
	if err != nil {
		panic("hls: problem: " + err.Error()) // strings and a number always encode
	}
	return &problem{status: status, body: body, length: []string{strconv.Itoa(len(body))}, cacheControl: []string{cacheControl}}
}

// problems are all that the handler answers.
type problems struct {
	unknown, gone, camera, method, notYet, late, directive, notInTS, notInHLS, unsatisfied *problem
}

func newProblems() problems {
	const brief = "max-age=1" // caches keep a 404 for ten seconds and more by themselves
	p := problems{
		unknown:     newProblem(http.StatusNotFound, "not-found", "There is nothing here", "There is nothing of this name below /hls/. Players start at /hls/{camera}/index.m3u8.", brief),
		gone:        newProblem(http.StatusNotFound, "segment-not-available", "The segment is not to be had", "The segment has left the window, or is not there yet. Load the playlist again.", brief),
		camera:      newProblem(http.StatusNotFound, "camera-not-found", "There is no such camera", "There is no camera of this id.", brief),
		method:      newProblem(http.StatusMethodNotAllowed, "method-not-allowed", "This cannot be done here", "HLS is read with GET, HEAD and OPTIONS.", brief),
		notYet:      newProblem(http.StatusServiceUnavailable, "camera-not-live", "The camera has not sent anything yet", "The camera has not sent anything that can be played yet. Try again in a moment.", "no-store"),
		late:        newProblem(http.StatusServiceUnavailable, "camera-stalled", "The camera has nothing new", "The camera has not sent what was asked for in time. Try again in a moment.", "no-store"),
		directive:   newProblem(http.StatusBadRequest, "bad-delivery-directive", "This cannot be waited for", "_HLS_msn and _HLS_part are whole numbers, given once, _HLS_part with _HLS_msn, and at most two segments ahead (RFC 8216bis 6.2.5.2).", "no-store"),
		notInTS:     newProblem(http.StatusNotAcceptable, "codec-not-in-mpegts", "There is no MPEG-TS of this camera", "MPEG-TS is offered of H.264 and AAC only, and this camera sends another codec, such as H.265. Use /hls/{camera}/index.m3u8.", "max-age=1"),
		notInHLS:    newProblem(http.StatusNotAcceptable, "codec-not-in-hls", "There is no HLS of this camera", "This camera sends MJPEG, which no player of HLS shows. Set its stream to H.264, or take pictures from /api/v1/cameras/{id}/snapshot.jpg.", "max-age=1"),
		unsatisfied: newProblem(http.StatusRequestedRangeNotSatisfiable, "range-not-satisfiable", "There is nothing in this range", "The range begins beyond the end.", brief),
	}
	p.notYet.retryAfter = []string{"1"}
	p.late.retryAfter = p.notYet.retryAfter
	p.method.allow = []string{allowedMethods}
	return p
}

const allowedMethods = "GET, HEAD, OPTIONS"
