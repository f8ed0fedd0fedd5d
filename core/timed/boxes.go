package timed

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/drover-video/drover/core/detection"
)

// Hold is how long boxes stand for which no newer report of their worker comes.
const Hold = time.Second

// Renditions of boxes in a multivariant playlist.
const (
	Group = "seen"
	Name  = "What is seen"
)

// A cue is what one says, as JSON.
type cue struct {
	Time       string `json:"time"` // of the frame
	Worker     string `json:"worker"`
	Detections []seen `json:"detections"`
}

type seen struct {
	Label string         `json:"label"`
	Score float64        `json:"score"`
	Box   *detection.Box `json:"box,omitempty"`
	Track uint64         `json:"track_id,omitempty"`
}

// AppendBoxes appends WebVTT of the reports of one segment: at is when its first
// picture was taken, media where that is in the time of the media, and lasts how long
// the segment is. Reports are by time, and those of the moment before may be among
// them: what they saw stands into the segment.
func AppendBoxes(dst []byte, at time.Time, media, lasts time.Duration, reports []detection.Report) []byte {
	// RFC 8216 3.5: what time zero of the cues is in the media.
	dst = append(dst, "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:"...)
	dst = strconv.AppendInt(dst, int64(media)*9/100000&(1<<33-1), 10) // as in MPEG-TS, 33 bits
	dst = append(dst, ",LOCAL:00:00:00.000\n"...)
	for i := range reports {
		r := &reports[i]
		from := max(0, r.Time.Sub(at))
		to := min(lasts, r.Time.Add(Hold).Sub(at))
		for j := i + 1; j < len(reports); j++ {
			if reports[j].Worker == r.Worker {
				to = min(to, reports[j].Time.Sub(at))
				break
			}
		}
		if to <= from || len(r.Detections) == 0 {
			continue
		}
		dst = appendCue(dst, r, from, to)
	}
	return dst
}

func appendCue(dst []byte, r *detection.Report, from, to time.Duration) []byte {
	c := cue{Time: r.Time.UTC().Format("2006-01-02T15:04:05.000000Z"), Worker: r.Worker, Detections: make([]seen, len(r.Detections))}
	for i := range r.Detections {
		d := &r.Detections[i]
		c.Detections[i] = seen{Label: d.Label, Score: d.Score, Box: d.Box, Track: d.Track}
	}
	// It has no line break, and no arrow: > is written as an escape.
	text, err := json.Marshal(&c)
	if err != nil { // numbers are finite since they were taken
		return dst
	}
	dst = append(dst, '\n')
	dst = appendClock(dst, from)
	dst = append(dst, " --> "...)
	dst = appendClock(dst, to)
	dst = append(dst, '\n')
	dst = append(dst, text...)
	return append(dst, '\n')
}

// appendClock appends 00:00:01.500.
func appendClock(dst []byte, d time.Duration) []byte {
	ms := d.Round(time.Millisecond).Milliseconds()
	for _, part := range [...]struct {
		value int64
		after byte
	}{{ms / 3_600_000, ':'}, {ms / 60_000 % 60, ':'}, {ms / 1000 % 60, '.'}} {
		dst = append(dst, '0'+byte(part.value/10%10), '0'+byte(part.value%10), part.after)
	}
	ms %= 1000
	return append(dst, '0'+byte(ms/100), '0'+byte(ms/10%10), '0'+byte(ms%10))
}
