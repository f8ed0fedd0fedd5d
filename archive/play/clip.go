package play

import (
	"encoding/hex"
	"errors"
	"os"

	"github.com/drover-video/drover/archive/export"
	"github.com/drover-video/drover/archive/index"
)

// clip answers with an export, or its checksum.
func (p *reply) clip(stream index.Stream, sum bool, q *query) *problem {
	request := export.Request{Camera: stream.Camera, Source: stream.Source, From: q.from, To: q.to}
	switch {
	case p.options.Clips == nil:
		return unknown()
	case q.from.IsZero() || q.to.IsZero():
		return badRange(errors.New("say from when to when, by from and to"))
	case q.gaps == "keep":
		request.Gaps = export.KeepGaps
	case q.gaps != "" && q.gaps != "close":
		return badRange(errors.New("gaps is close or keep"))
	}
	clip, err := p.options.Clips.Clip(p.ctx(), request)
	switch {
	case errors.Is(err, export.ErrNothing):
		return noRecording("There is no footage in this range.")
	case errors.Is(err, export.ErrTooLong), errors.Is(err, export.ErrRange):
		return badRange(err)
	case errors.Is(err, export.ErrBusy):
		return busy(err.Error() + ".")
	case errors.Is(err, os.ErrNotExist):
		return gone()
	case err != nil:
		return p.failed(p.r.Context(), stream.Camera, err)
	}
	defer clip.Close()
	p.header["Cache-Control"] = []string{"private, max-age=0, must-revalidate"} // nobody else asks for the same
	if !sum {
		clip.ServeHTTP(p.w, p.r)
		return nil
	}
	digest, err := clip.Sum(p.r.Context())
	if err != nil {
		return p.failed(p.r.Context(), stream.Camera, err)
	}
	p.header["Content-Type"] = []string{"text/plain; charset=utf-8"}
	p.bytes([]byte(hex.EncodeToString(digest[:])+"  "+clip.Name+"\n"), clip.ETag[:len(clip.ETag)-1]+`-sha256"`)
	return nil
}
