package play

import (
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/negotiate"
)

// freshFor is how long a closed range of which nothing more is written is not looked
// at again, whatever else of the camera changes.
const freshFor = 10 * time.Second

// playlist answers with a media playlist, or one of single pictures.
func (p *reply) playlist(stream index.Stream, pictures bool, q *query) *problem {
	kind := nameMedia
	if pictures {
		kind = namePictures
	}
	d, problem := p.at(slotKey{stream.ID, kind, micros(q.from), micros(q.to)}, func(s *slot) (*document, *problem) {
		if q.to.IsZero() {
			return p.growing(s, stream, pictures, q)
		}
		return p.closed(s, &closed{
			style: style{stream: stream, pictures: pictures, from: q.from, to: q.to, oneMap: true}, now: p.options.Now(),
		}, (*closed).document)
	})
	if problem != nil {
		return problem
	}
	p.watched(stream.Camera)
	p.document(d)
	return nil
}

// at looks at a slot when it is its turn.
func (p *reply) at(key slotKey, look func(*slot) (*document, *problem)) (*document, *problem) {
	s := p.shelf.slot(key)
	if err := s.enter(p.r.Context()); err != nil {
		return nil, broken() // nobody reads it
	}
	defer s.leave()
	return look(s)
}

// begin waits for a place among those who render, which are few: who asks for a day
// again and again, each time another, must not cost those who watch the live picture.
// It is false where the client has gone.
func (p *reply) begin() bool {
	select {
	case p.renders <- struct{}{}:
		return true
	default: // only who has to wait is watched for leaving
	}
	select {
	case p.renders <- struct{}{}:
		return true
	case <-p.r.Context().Done():
		return false
	}
}

func (p *reply) end() { <-p.renders }

// closed returns what a slot holds of a closed range, and makes it anew if it may have
// become another.
func (p *reply) closed(s *slot, c *closed, write func(*closed, *recorded) *document) (*document, *problem) {
	version := p.options.Index.Version(c.stream.ID)
	if s.document != nil && (s.version == version || s.settled && c.now.Sub(s.made) < freshFor) && s.made.Add(time.Minute).After(c.now) {
		return s.document, nil
	}
	if !p.begin() {
		return nil, broken() // nobody reads it
	}
	defer p.end()
	r, problem, err := c.read(p.ctx(), p.options.Index)
	if err != nil {
		problem = p.failed(p.r.Context(), c.stream.Camera, err)
	}
	if problem != nil {
		s.document = nil
		p.shelf.weigh(s, 0)
		return nil, problem
	}
	if !c.boxes && !c.pictures {
		r.ranges = p.happened(p.ctx(), c.stream.Camera, r.reels[0].start, c.to)
	}
	d := write(c, r)
	if s.document != nil && s.document.tag == d.tag && s.document.cacheControl == d.cacheControl {
		d = s.document // it may have its gzip form already
	} else {
		p.rendered.Add(1)
		if negotiate.AcceptsGzip(p.get("Accept-Encoding")) {
			d.gzipped() // it is most of the work
		}
	}
	s.document, s.version, s.made, s.settled = d, version, c.now, r.settled
	p.shelf.weigh(s, int64(len(d.text().data))*5/4+1024)
	return d, nil
}

// growing returns what a slot holds of a playlist that grows or slides.
func (p *reply) growing(s *slot, stream index.Stream, pictures bool, q *query) (*document, *problem) {
	now := p.options.Now()
	if q.from.After(now) {
		p.shelf.weigh(s, 0)
		return nil, noRecording("The range begins in the future.")
	}
	if s.tape == nil {
		s.tape = newTape(style{stream: stream, pictures: pictures, from: q.from, flat: &p.flat}, p.options.TimeShift)
	}
	if s.tape.current(p.options.Index) {
		return s.tape.document(q.skip), nil
	}
	if !p.begin() {
		return nil, broken() // nobody reads it
	}
	defer p.end()
	changed, problem, err := s.tape.refresh(p.ctx(), p.options.Index, now, p.happened)
	if err != nil {
		problem = p.failed(p.r.Context(), stream.Camera, err)
	}
	if problem != nil {
		s.tape = nil
		p.shelf.weigh(s, 0)
		return nil, problem
	}
	if changed {
		p.rendered.Add(1)
		p.shelf.weigh(s, s.tape.bytes())
	}
	return s.tape.document(q.skip), nil
}
