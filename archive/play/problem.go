package play

import (
	"encoding/json"
	"net/http"
)

// A problem is an error as RFC 9457 has it.
type problem struct {
	kind   string
	status int
	title  string
	detail string
	cache  string
}

const (
	brief   = "max-age=1" // caches keep a 404 for ten seconds and more by themselves
	noStore = "no-store"
)

func unknown() *problem {
	return &problem{"not-found", http.StatusNotFound, "There is nothing here", "There is nothing of this name below /archive/. Players start at /archive/{camera}/index.m3u8.", brief}
}

func noCamera() *problem {
	return &problem{"camera-not-found", http.StatusNotFound, "There is no such camera", "There is no camera of this id, and nothing was recorded of one.", brief}
}

func noRecording(detail string) *problem {
	return &problem{"no-recording", http.StatusNotFound, "Nothing was recorded then", detail, brief}
}

func gone() *problem {
	return &problem{"file-not-found", http.StatusNotFound, "The recording is not to be had", "The file was deleted, or never was. Load the playlist again.", brief}
}

func badRange(err error) *problem {
	return &problem{"bad-range", http.StatusBadRequest, "This is no range of time", err.Error() + ".", noStore}
}

func notAllowed() *problem {
	return &problem{"method-not-allowed", http.StatusMethodNotAllowed, "This cannot be done here", "Recordings are read with GET, HEAD and OPTIONS. They are deleted by the API.", noStore}
}

func unsatisfied() *problem {
	return &problem{"range-not-satisfiable", http.StatusRequestedRangeNotSatisfiable, "There is nothing in this range", "The range begins beyond the end.", brief}
}

func noJPEG() *problem {
	return &problem{"no-jpeg", http.StatusNotAcceptable, "There is no JPEG of this recording", "Only MJPEG footage has pictures that are JPEG, and Drover does not transcode video. Ask for format=mp4.", brief}
}

func busy(detail string) *problem {
	return &problem{"too-many-requests", http.StatusTooManyRequests, "Too much at once", detail, noStore}
}

func broken() *problem {
	return &problem{"archive-not-readable", http.StatusServiceUnavailable, "The archive cannot be read", "The server's log says why.", noStore}
}

func notAtHome() *problem {
	return &problem{"second-home-away", http.StatusServiceUnavailable, "The recording cannot be read now", "It lies in the second home, which cannot be read right now. Try again in a moment; the server's log says why.", noStore}
}

func (p *problem) body() []byte {
	body, err := json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}{"/problems/" + p.kind, p.title, p.status, p.detail})
	if err != nil {
		panic("play: problem: " + err.Error()) // strings and a number always encode
	}
	return body
}
