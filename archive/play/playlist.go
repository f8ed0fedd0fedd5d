package play

import (
	"time"

	"github.com/drover-video/drover/archive/index"
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
	s := p.shelf.slot(slotKey{stream.ID, kind, micros(q.from), micros(q.to)})
	if err := s.enter(p.r.Context()); err != nil {
		return broken() // nobody reads it
	}
	var d *document
	var problem *problem
	if q.to.IsZero() {
		d, problem = p.growing(s, stream, pictures, q)
	} else {
		d, problem = p.closed(s, &closed{
			style: style{stream: stream, pictures: pictures, from: q.from, to: q.to, oneMap: true}, now: p.options.Now(),
		}, (*closed).document)
	}
	s.leave()
	if problem != nil {
		return problem
	}
	p.watched(stream.Camera)
	p.document(d)
	return nil
}

// closed returns what a slot holds of a closed range, and makes it anew if it may have
// become another.
func (p *reply) closed(s *slot, c *closed, write func(*closed, *recorded) *document) (*document, *problem) {
	version := p.options.Index.Version(c.stream.ID)
	if s.document != nil && (s.version == version || s.settled && c.now.Sub(s.made) < freshFor) && s.made.Add(time.Minute).After(c.now) {
		return s.document, nil
	}
	r, problem, err := c.read(p.ctx(), p.options.Index)
	if err != nil {
		problem = p.failed(p.r.Context(), c.stream.Camera, err)
	}
	if problem != nil {
		s.document = nil
		p.shelf.weigh(s, 0)
		return nil, problem
	}
	d := write(c, r)
	if s.document != nil && s.document.tag == d.tag && s.document.cacheControl == d.cacheControl {
		d = s.document // it may have its gzip form already
	} else {
		p.rendered.Add(1)
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
	changed, problem, err := s.tape.refresh(p.ctx(), p.options.Index, now)
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
	if q.skip && s.tape.delta != nil {
		return s.tape.delta, nil
	}
	return s.tape.full, nil
}
