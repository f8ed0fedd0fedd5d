package home_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/home"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/event"
)

// xmlError answers as S3 does when it does not do what was asked, and repeats what it
// was sent, as a hostile store would.
func xmlError(status int, code string) fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, `<?xml version="1.0"?><Error><Code>%s</Code><Message>hostile %s</Message></Error>`, code, r.Header.Get("Authorization"))
		return true
	}
}

// cut breaks the connection.
func cut(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		conn.Close()
	}
}

// cutUpload breaks the connection in the middle of what is sent.
func cutUpload(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
	_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength/2)
	cut(w)
	return true
}

// cutAnswer lets the store have all, and breaks the connection before it can say so.
func cutAnswer(w http.ResponseWriter, r *http.Request, pass http.Handler) bool {
	pass.ServeHTTP(httptest.NewRecorder(), r)
	cut(w)
	return true
}

// spoilt changes one byte of what is sent.
func spoilt(w http.ResponseWriter, r *http.Request, pass http.Handler) bool {
	body, err := io.ReadAll(r.Body)
	if err == nil && len(body) > 0 {
		body[len(body)/2] ^= 1
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	pass.ServeHTTP(w, r)
	return true
}

// silence answers nothing until the other side has enough.
func silence(_ http.ResponseWriter, r *http.Request, _ http.Handler) bool {
	_, _ = io.Copy(io.Discard, r.Body) // only then is it seen that the other side goes away
	<-r.Context().Done()
	return true
}

// endless answers an error that has no end.
func endless(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
	w.WriteHeader(http.StatusInternalServerError)
	for junk := bytes.Repeat([]byte("hostile "), 1000); ; {
		if _, err := w.Write(junk); err != nil {
			return true
		}
	}
}

// otherSize has the store say that it has more than it was sent.
func otherSize(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
	w.Header().Set("ETag", `"other"`)
	w.Header().Set("Content-Length", "123456789")
	w.WriteHeader(http.StatusOK)
	return true
}

// otherClock answers as a store whose clock is two hours ahead.
func otherClock(w http.ResponseWriter, r *http.Request, pass http.Handler) bool {
	w.Header().Set("Date", time.Now().Add(2*time.Hour).UTC().Format(http.TimeFormat))
	return xmlError(http.StatusForbidden, "RequestTimeTooSkewed")(w, r, pass)
}

// times lets a fault happen to the first requests of a method.
func times(n int, method string, f fault) fault {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request, pass http.Handler) bool {
		mu.Lock()
		due := r.Method == method && n > 0
		if due {
			n--
		}
		mu.Unlock()
		return due && f(w, r, pass)
	}
}

// either lets the first fault happen that is due.
func either(faults ...fault) fault {
	return func(w http.ResponseWriter, r *http.Request, pass http.Handler) bool {
		for _, f := range faults {
			if f(w, r, pass) {
				return true
			}
		}
		return false
	}
}

func TestWhateverHappensAllIsCopiedAndNothingTwice(t *testing.T) {
	for name, c := range map[string]struct {
		fault  fault
		reason home.Reason
	}{
		"the connection breaks in mid-upload":   {times(4, http.MethodPut, cutUpload), home.ReasonUnreachable},
		"the answer is lost":                    {times(4, http.MethodPut, cutAnswer), home.ReasonUnreachable},
		"the store asks to slow down":           {times(6, http.MethodPut, xmlError(503, "SlowDown")), home.ReasonBusy},
		"the store fails":                       {times(6, http.MethodPut, xmlError(500, "InternalError")), home.ReasonBroken},
		"the store refuses":                     {times(3, http.MethodPut, xmlError(403, "AccessDenied")), home.ReasonRefused},
		"the bucket is not there":               {times(3, http.MethodPut, xmlError(404, "NoSuchBucket")), home.ReasonNoBucket},
		"the store redirects elsewhere":         {times(3, http.MethodPut, xmlError(301, "PermanentRedirect")), home.ReasonNoBucket},
		"the store says what is unheard of":     {times(3, http.MethodPut, xmlError(418, "<hostile>")), home.ReasonRejected},
		"a byte changes on the way":             {times(4, http.MethodPut, spoilt), home.ReasonMismatch},
		"the store has another size":            {times(2, http.MethodHead, otherSize), home.ReasonMismatch},
		"the store does not have what it took":  {times(2, http.MethodHead, xmlError(404, "NotFound")), home.ReasonMismatch},
		"the store cannot be asked what it has": {times(12, http.MethodHead, cutUpload), home.ReasonUnreachable},
		"the store does not answer":             {times(1, http.MethodPut, silence), home.ReasonUnreachable},
		"the store answers without end":         {times(2, http.MethodPut, endless), home.ReasonBroken},
		"the clocks are two hours apart":        {times(2, http.MethodPut, otherClock), home.ReasonClock},
		"all at once":                           {either(times(2, http.MethodPut, cutAnswer), times(2, http.MethodPut, spoilt), times(2, http.MethodHead, cutUpload), times(3, http.MethodPut, xmlError(503, "SlowDown"))), home.ReasonMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			door, yard := b.record("door", 12), b.record("yard", 12)
			b.stand(c.fault)
			h := b.home(func(o *home.Options) { o.Stall = 300 * time.Millisecond })
			b.copyAll(h)
			b.stand(nil)
			b.proves(h, door, yard)
			s := b.status(h)
			if s.Failures[c.reason] == 0 || s.State != home.StateWell || s.Stored.Doomed != 0 {
				t.Errorf("status %+v, want failures for %q", s, c.reason)
			}
			b.silent(h)
		})
	}
}

func TestAStoreThatIsAwayIsToldOnceAndItsReturnToo(t *testing.T) {
	b := newBench(t)
	files := b.record("door", 30)
	b.stand(xmlError(503, "ServiceUnavailable"))
	h := b.home(nil)
	stop := b.run(h)
	b.until("it was tried several times", func() bool { return b.status(h).Failures[home.ReasonBusy] > 5 })
	if s := b.status(h); s.State != home.StateAway || s.Backlog.Files != 30 || !s.Backlog.Oldest.Equal(longAgo) {
		t.Errorf("while away: %+v", s)
	}
	b.stand(nil)
	b.until("all is copied", func() bool { return b.status(h).Backlog.Files == 0 })
	stop()
	b.proves(h, files)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.events) != 2 || b.events[0].Kind != event.KindArchiveHome || b.events[1].Kind != event.KindArchiveHomeWell {
		t.Errorf("events %+v, want that it is away and that it is back", b.events)
	}
}

func TestAnEndInMidUploadIsGoneOnFromByTheNextRun(t *testing.T) {
	b := newBench(t)
	files := b.record("door", 12)
	held := make(chan struct{}, 16)
	b.stand(func(w http.ResponseWriter, r *http.Request, pass http.Handler) bool {
		if r.Method != http.MethodPut {
			return false
		}
		_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength/2)
		held <- struct{}{}
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		return true
	})
	h := b.home(nil)
	stop := b.run(h)
	<-held
	stop()
	if s := b.status(h); s.Stored.Objects == 0 || s.Backlog.Files != 12 {
		t.Errorf("after the end: %+v, want an intended object", s)
	}
	if got := b.stored(); len(got) != 0 {
		t.Errorf("the bucket has %v", got)
	}
	b.stand(nil)
	h = b.home(nil)
	b.copyAll(h)
	b.proves(h, files)
}

func TestWhatHadArrivedBeforeTheEndIsNotSentAgain(t *testing.T) {
	b := newBench(t)
	files := b.record("door", 3)
	arrived := make(chan struct{}, 16)
	b.stand(func(w http.ResponseWriter, r *http.Request, pass http.Handler) bool {
		if r.Method != http.MethodPut {
			return false
		}
		pass.ServeHTTP(httptest.NewRecorder(), r)
		arrived <- struct{}{}
		<-r.Context().Done()
		return true
	})
	h := b.home(func(o *home.Options) { o.ObjectTime = time.Hour; o.Uploads = 1 })
	stop := b.run(h)
	<-arrived
	stop()
	b.stand(nil)
	had, sent := len(b.stored()), b.requests(http.MethodPut)
	h = b.home(func(o *home.Options) { o.ObjectTime = time.Hour })
	b.copyAll(h)
	b.proves(h, files)
	s := b.status(h)
	if s.Found != uint64(had) || had == 0 || b.requests(http.MethodPut)-sent != int(s.Objects)-had {
		t.Errorf("%d had arrived, %d found, %d sent for %d objects", had, s.Found, b.requests(http.MethodPut)-sent, s.Objects)
	}
}

func TestFilesThatWentWhileAnObjectWasSentMakeAnotherOneAfterTheEnd(t *testing.T) {
	b := newBench(t)
	files := b.record("door", 12)
	arrived := make(chan struct{}, 16)
	b.stand(func(w http.ResponseWriter, r *http.Request, pass http.Handler) bool {
		if r.Method != http.MethodPut {
			return false
		}
		pass.ServeHTTP(httptest.NewRecorder(), r)
		arrived <- struct{}{}
		<-r.Context().Done()
		return true
	})
	h := b.home(func(o *home.Options) { o.Uploads = 1 })
	stop := b.run(h)
	<-arrived
	stop()
	first := b.victims("door")[0]
	b.letGo(first)
	delete(files, first.File.Key())
	b.stand(nil)
	h = b.home(nil)
	stop = b.run(h)
	b.until("all is copied and the object of before deleted", func() bool {
		s := b.status(h)
		return s.Backlog.Files == 0 && s.Stored.Doomed == 0 && s.Objects > 0
	})
	stop()
	b.proves(h, files)
}

func TestAReadGoesOnWhereItsConnectionBroke(t *testing.T) {
	b := newBench(t)
	files := b.record("door", 3)
	h := b.home(nil)
	b.copyAll(h)
	half := func(w http.ResponseWriter, r *http.Request, pass http.Handler) bool {
		answer := httptest.NewRecorder()
		pass.ServeHTTP(answer, r)
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
		_ = http.NewResponseController(w).Flush()
		cut(w)
		return true
	}
	for key, content := range files {
		b.stand(times(2, http.MethodGet, half))
		body, err := h.Open(t.Context(), key, 100, int64(len(content))-100)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(body)
		body.Close()
		if err != nil || !bytes.Equal(got, content[100:]) {
			t.Errorf("file %v: %d bytes, %v", key, len(got), err)
		}
	}
	if s := b.status(h); s.Resumed != 2*uint64(len(files)) {
		t.Errorf("%d resumed", s.Resumed)
	}
}

func TestAReadThatCannotBeHadSaysWhy(t *testing.T) {
	b := newBench(t)
	files := b.record("door", 1)
	h := b.home(func(o *home.Options) { o.ReadStall = 200 * time.Millisecond })
	b.copyAll(h)
	whole := func(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
		_, _ = w.Write(make([]byte, 1<<20))
		return true
	}
	for name, c := range map[string]struct {
		fault  fault
		reason home.Reason
	}{
		"refused":                   {xmlError(403, "AccessDenied"), home.ReasonRefused},
		"gone":                      {xmlError(404, "NoSuchKey"), home.ReasonMissing},
		"another one of that name":  {xmlError(412, "PreconditionFailed"), home.ReasonMissing},
		"busy for long":             {xmlError(503, "SlowDown"), home.ReasonBusy},
		"silent":                    {silence, home.ReasonUnreachable},
		"more than what was wanted": {whole, home.ReasonRejected},
	} {
		t.Run(name, func(t *testing.T) {
			b.stand(c.fault)
			defer b.stand(nil)
			for key := range files {
				body, err := h.Open(t.Context(), key, 100, 10)
				if err == nil {
					body.Close()
					t.Fatal("it was read")
				}
				if home.ReasonOf(err) != c.reason || strings.Contains(err.Error(), "hostile") {
					t.Errorf("%v: reason %q, want %q", err, home.ReasonOf(err), c.reason)
				}
			}
		})
	}
	for key := range files { // none of these kept a slot
		body, err := h.Open(t.Context(), key, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		body.Close()
	}
}

func TestOnlySoMuchIsReadAtOnce(t *testing.T) {
	b := newBench(t)
	b.record("door", 1)
	h := b.home(func(o *home.Options) { o.Reads = 1 })
	b.copyAll(h)
	key := index.Key{Stream: 1, Number: 1}
	first, err := h.Open(t.Context(), key, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Open(t.Context(), key, 0, 10); err != home.ErrBusy {
		t.Errorf("the second read: %v, want ErrBusy", err)
	}
	first.Close()
	first.Close() // twice gives back one slot
	second, err := h.Open(t.Context(), key, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	second.Close()
}
