package conform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options of Watch.
type Options struct {
	URL      string // of a multivariant or a media playlist
	Duration time.Duration
	Client   *http.Client // nil: http.DefaultClient
}

// A Report is what a viewer of one media playlist saw.
type Report struct {
	URL         string
	Loads       int           // playlists that differed
	Restarts    int           // new lives of the playlist
	Segments    int           // loaded
	Parts       int           // loaded
	Late        int           // times that the server said to come back later
	Short       int           // segments of less than half a second before a discontinuity
	LongestWait time.Duration // from one change of the playlist to the next
	Violations  []string
}

// maxBody bounds what is loaded at once.
const maxBody = 256 << 20

// Watch watches a live stream as a player does, all variants at once: it loads
// playlists when there should be something new, by blocking reload where that is
// offered, and all media they name.
func Watch(ctx context.Context, o Options) ([]Report, error) {
	if o.Client == nil {
		o.Client = http.DefaultClient
	}
	base, err := url.Parse(o.URL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.Duration)
	defer cancel()
	v := newViewer(o.Client, base)
	var data []byte
	for late := true; late; {
		if data, late, err = v.load(ctx, base.String()); err != nil {
			return nil, fmt.Errorf("load the playlist: %w", err)
		}
		if late {
			pause(ctx, time.Second)
		}
	}
	viewers := []*viewer{v}
	multivariant := false
	if strings.Contains(string(data), "\n#EXT-X-STREAM-INF:") {
		list, err := ParseMultivariant(data)
		if err != nil {
			return nil, err
		}
		viewers, multivariant = nil, true
		for _, uri := range list.uris() {
			at, err := base.Parse(uri)
			if err != nil {
				return nil, err
			}
			viewers = append(viewers, newViewer(o.Client, at))
		}
	}
	together := newPresentation()
	for _, v := range viewers {
		v.show(together)
	}
	reports := make([]Report, len(viewers))
	var running sync.WaitGroup
	for i, v := range viewers {
		running.Go(func() { reports[i] = v.run(ctx) })
	}
	running.Wait()
	together.end()
	if multivariant {
		checkRates(context.WithoutCancel(ctx), o.Client, base, viewers)
	}
	for i, v := range viewers {
		reports[i].Violations = v.checker.Violations()
	}
	return reports, nil
}

// ratesPatience is how long the multivariant playlist is waited for at the end.
const ratesPatience = 5 * time.Second

// checkRates holds the rates that the multivariant playlist names by now against
// those of the segments that were seen.
func checkRates(ctx context.Context, client *http.Client, base *url.URL, viewers []*viewer) {
	ctx, cancel := context.WithTimeout(ctx, ratesPatience)
	defer cancel()
	data, late, err := newViewer(client, base).load(ctx, base.String())
	if err != nil || late {
		return // the camera is gone by now
	}
	list, err := ParseMultivariant(data)
	if err != nil {
		viewers[0].checker.Fail("%v", err)
		return
	}
	peaks := map[string]float64{}
	for _, v := range viewers {
		peaks[path.Base(v.base.Path)] = v.peak
	}
	sound := 0.0
	for _, r := range list.Audio {
		sound = max(sound, peaks[r.URI])
	}
	for _, v := range list.Variants {
		peak := peaks[v.URI]
		if v.Audio != "" {
			peak += sound
		}
		if float64(v.Bandwidth) < peak {
			viewers[0].checker.Fail("4.3.4.2: variant %s is said to need %d bit/s, and needs %.0f", v.URI, v.Bandwidth, peak)
		}
	}
}

// A viewer watches one media playlist.
type viewer struct {
	client  *http.Client
	base    *url.URL
	checker *Checker
	media   *mediaChecker
	report  Report

	together *presentation
	known    map[string]uint64 // how far the others were

	playlist *Playlist
	peak     float64 // bits per second of the worst segment
	round    int
	changed  time.Time // when the playlist was last another
	have     map[string]bool
	hinted   map[string][]byte // loaded before they were in a playlist
}

func newViewer(client *http.Client, base *url.URL) *viewer {
	c := New()
	return &viewer{client: client, base: base, checker: c, media: newMediaChecker(c), report: Report{URL: base.String()},
		have: map[string]bool{}, hinted: map[string][]byte{}}
}

// show puts the viewer's playlist beside others.
func (v *viewer) show(p *presentation) {
	uri := v.base.Path
	v.together = p
	p.join(uri, v.checker)
	v.checker.Outgrown = func(target int) { p.outgrown(uri, target) }
	v.media.began = func(s Segment, at time.Duration) { p.media(uri, s, at) }
}

func (v *viewer) run(ctx context.Context) Report {
	for ctx.Err() == nil {
		if err := v.step(ctx); err != nil && ctx.Err() == nil {
			v.checker.Fail("%v", err)
			pause(ctx, time.Second)
		}
		v.round++
	}
	v.report.Loads, v.report.Restarts, v.report.Short = v.checker.Loads, v.checker.Restarts, v.checker.Short
	v.report.Violations = v.checker.Violations()
	return v.report
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// step loads the playlist once, and what is new in it.
func (v *viewer) step(ctx context.Context) error {
	last := v.playlist
	blocking := last != nil && last.Control != nil && last.Control.CanBlockReload
	query, msn, part := "", uint64(0), -1
	if blocking {
		query, msn, part = v.question()
	}
	var asking sync.WaitGroup
	var hint hinted
	if blocking && last.Hint != "" && v.round%3 == 0 {
		hint.uri = last.Hint
		asking.Go(func() { hint.status, hint.data, hint.err = v.get(ctx, v.resolve(hint.uri)) })
	}
	if blocking && v.round == 2 {
		v.askNonsense(ctx, msn)
	}
	data, late, err := v.load(ctx, v.base.String()+query)
	asking.Wait()
	v.noteHint(hint)
	switch {
	case err != nil:
		return err
	case late:
		v.report.Late++
		pause(ctx, time.Second)
		return nil
	}
	p := v.checker.Watch(data)
	if p == nil {
		return nil
	}
	v.playlist = p
	v.known = v.together.loaded(v.base.Path, p, last, v.known)
	if query != "" && !p.has(msn, part) {
		v.checker.Fail("6.2.5.2: asked for %s, the playlist ends with segment %d and %d parts", query, p.end(), len(p.openParts()))
	}
	v.noteChange(last, p)
	v.loadMedia(ctx, p)
	if !blocking && last != nil {
		pause(ctx, p.target()/2)
	}
	return nil
}

// longestWait is how long a segment may take to be waited for as a whole.
const longestWait = 5 * time.Second

// question says what comes next, in the ways in which players ask for it.
func (v *viewer) question() (query string, msn uint64, part int) {
	last := v.playlist
	msn, part = last.end(), len(last.openParts())
	query = "?_HLS_msn=" + strconv.FormatUint(msn, 10)
	if v.round%16 == 15 && last.target() <= longestWait {
		part = -1 // the whole segment
	} else {
		query += "&_HLS_part=" + strconv.Itoa(part)
	}
	if v.round%2 == 1 {
		query += "&_HLS_skip=YES"
	}
	return query, msn, part
}

// has reports whether the playlist has a part, or a whole segment where part is
// -1, or what is beyond.
func (p *Playlist) has(msn uint64, part int) bool {
	switch {
	case msn < p.end():
		// The part may turn out to be beyond the segment's last: then it is the
		// first of the next.
		before := p.end() - 1
		last := p.Segments[len(p.Segments)-1]
		return part < 0 || msn < before || part < len(last.Parts) || len(p.openParts()) > 0
	case part < 0 || msn > p.end():
		return false
	default:
		return part < len(p.openParts())
	}
}

func (v *viewer) noteChange(last, p *Playlist) {
	now := time.Now()
	if last == nil || last.end() != p.end() || len(last.openParts()) != len(p.openParts()) {
		if !v.changed.IsZero() {
			v.report.LongestWait = max(v.report.LongestWait, now.Sub(v.changed))
		}
		v.changed = now
	}
}

// hinted is the answer to a request for a part ahead of its time.
type hinted struct {
	uri    string
	status int
	data   []byte
	err    error
}

func (v *viewer) noteHint(h hinted) {
	switch {
	case h.uri == "" || h.err != nil:
	case h.status == http.StatusOK:
		v.hinted[h.uri] = h.data
	case h.status != http.StatusNotFound && h.status != http.StatusServiceUnavailable:
		v.checker.Fail("6.2.6: the hinted %s is answered with %d", h.uri, h.status)
	}
}

// askNonsense asks what is to be answered with an error at once.
func (v *viewer) askNonsense(ctx context.Context, next uint64) {
	for _, query := range []string{"?_HLS_part=0", "?_HLS_msn=x", "?_HLS_msn=-1", fmt.Sprintf("?_HLS_msn=%d", next+3), "?_HLS_msn=18446744073709551616"} {
		if status, _, err := v.get(ctx, v.base.String()+query); err == nil && status != http.StatusBadRequest {
			v.checker.Fail("6.2.5.2: %s is answered with %d, want 400", query, status)
		}
	}
}

// loadMedia loads what is new: parts that end the playlist, and whole segments.
func (v *viewer) loadMedia(ctx context.Context, p *Playlist) {
	for i, s := range p.withOpen() {
		v.loadInit(ctx, s.MapURI)
		whole := s.URI != ""
		// A player begins at the end, and so does this.
		if whole && v.report.Segments == 0 && i < len(p.Segments)-1 {
			continue
		}
		for index, part := range s.Parts {
			if v.have[part.URI] {
				continue
			}
			if data, ok := v.loadPiece(ctx, part.URI); ok {
				v.report.Parts++
				v.media.part(s, index, data)
			}
		}
		if !whole {
			continue
		}
		if len(s.Parts) > 0 {
			v.media.partsEnd(s)
		}
		if v.have[s.URI] {
			continue
		}
		if data, ok := v.loadPiece(ctx, s.URI); ok {
			v.report.Segments++
			if 2*s.Duration >= p.target() {
				v.peak = max(v.peak, float64(len(data))*8/s.Duration.Seconds())
			}
			switch path.Ext(s.URI) {
			case ".ts":
				if len(data)%188 != 0 {
					v.checker.Fail("3.2: segment %s has %d bytes", s.URI, len(data))
				}
			default:
				v.media.segment(s, data)
			}
		}
	}
}

func (v *viewer) loadInit(ctx context.Context, uri string) {
	if uri == "" || v.have[uri] {
		return
	}
	if data, ok := v.loadPiece(ctx, uri); ok {
		v.media.init(uri, data)
	}
}

// loadPiece loads what a playlist names, which must be there.
func (v *viewer) loadPiece(ctx context.Context, uri string) ([]byte, bool) {
	v.have[uri] = true
	status, data, err := v.get(ctx, v.resolve(uri))
	if ctx.Err() != nil {
		return nil, false
	}
	if err != nil || status != http.StatusOK {
		v.checker.Fail("6.2.1: %s is in the playlist and answered with %d, %v", uri, status, err)
		return nil, false
	}
	if before, hinted := v.hinted[uri]; hinted {
		delete(v.hinted, uri)
		if string(before) != string(data) {
			v.checker.Fail("6.2.6: %s has other bytes than when it was hinted at", uri)
		}
	}
	return data, true
}

func (v *viewer) resolve(uri string) string {
	at, err := v.base.Parse(uri)
	if err != nil {
		return uri
	}
	return at.String()
}

// load loads a playlist. late says that the server wants to be asked later.
func (v *viewer) load(ctx context.Context, at string) (data []byte, late bool, err error) {
	response, data, err := v.fetch(ctx, at)
	if err != nil {
		return nil, false, err
	}
	header := response.Header
	switch response.StatusCode {
	case http.StatusOK:
		if kind := header.Get("Content-Type"); kind != "application/vnd.apple.mpegurl" {
			v.checker.Fail("4: a playlist of type %q", kind)
		}
		return data, false, nil
	case http.StatusServiceUnavailable:
		if header.Get("Retry-After") == "" || header.Get("Cache-Control") != "no-store" {
			v.checker.Fail("6.2.5.2: 503 with Retry-After %q and Cache-Control %q", header.Get("Retry-After"), header.Get("Cache-Control"))
		}
		return nil, true, nil
	default:
		return nil, false, fmt.Errorf("%s is answered with %s", at, response.Status)
	}
}

func (v *viewer) get(ctx context.Context, at string) (status int, data []byte, err error) {
	response, data, err := v.fetch(ctx, at)
	if err != nil {
		return 0, nil, err
	}
	return response.StatusCode, data, nil
}

func (v *viewer) fetch(ctx context.Context, at string) (*http.Response, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, nil, err
	}
	response, err := v.client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err == nil && len(data) > maxBody {
		err = errors.New("more than is sensible")
	}
	return response, data, err
}
