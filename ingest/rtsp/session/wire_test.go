package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func methods(requests []*request) string {
	var out []string
	for _, r := range requests {
		out = append(out, r.method)
	}
	return strings.Join(out, " ")
}

func TestASessionHandsOnPacketsAndPartsWithOneTeardown(t *testing.T) {
	seen := make(chan []*request, 1)
	s := play(t, script(t, func(p *peer) {
		all := p.handshake(bothSDP)
		p.write(frame(0, rtp('V', 1, "v1")) + frame(2, rtp('A', 1, "a1")) + frame(0, rtp('V', 2, "v2")))
		p.write(frame(3, bye('X')) + frame(9, "unknown") + frame(0, "short") + frame(0, rtp('V', 3, "v3")))
		seen <- append(all, p.rest("")...)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	heard, done := newRecord(), make(chan error, 1)
	go func() { done <- s.Run(ctx, heard) }()
	heard.waitFor(t, 4)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Run ended with %v", err)
	}
	for range 3 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if got, want := heard.packets(), "0:v1 1:a1 0:v2 0:v3"; got != want {
		t.Errorf("packets %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(heard.rtcp, heard.batches), "[1:203] 2"; got != want {
		t.Errorf("RTCP and batches %s, want %s", got, want)
	}
	if got := s.Stats(); got.UnknownChannel != 1 || got.Invalid != 1 {
		t.Errorf("stats %+v", got)
	}
	all := <-seen
	if got, want := methods(all), "OPTIONS DESCRIBE SETUP SETUP PLAY TEARDOWN"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	for i, want := range []string{"/live", "/live", "/live/trackID=0", "/live/trackID=1", "/live", "/live"} {
		if all[i].uri != "rtsp://192.0.2.1"+want {
			t.Errorf("%s of %s, want %s", all[i].method, all[i].uri, want)
		}
	}
}

func TestCloseEndsRunAndEverythingAfter(t *testing.T) {
	s := play(t, script(t, func(p *peer) { p.handshake(videoSDP); p.rest("") }))
	done := make(chan error, 1)
	go func() { done <- s.Run(t.Context(), newRecord()) }()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, ErrClosed) {
		t.Errorf("Run ended with %v, want ErrClosed", err)
	}
	if err := s.Setup(t.Context(), 0); !errors.Is(err, ErrClosed) {
		t.Errorf("Setup ended with %v, want ErrClosed", err)
	}
	if err := s.Play(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("Play ended with %v, want ErrClosed", err)
	}
}

func TestCloseDoesNotWaitForACameraThatIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, script(t, func(p *peer) {
			p.handshake(videoSDP)
			p.next() // the TEARDOWN
			for p.next() != nil {
			}
		}))
		began := time.Now()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > teardownTimeout {
			t.Errorf("Close took %v", took)
		}
	})
}

func TestEveryStepEndsWhenTheContextDoes(t *testing.T) {
	for _, silent := range []string{"OPTIONS", "DESCRIBE", "SETUP", "PLAY", "nothing"} {
		t.Run(silent, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				began := time.Now()
				err := converse(ctx, script(t, func(p *peer) {
					for r := p.next(); r != nil; r = p.next() {
						if r.method != silent {
							p.usual(r, videoSDP)
						}
					}
				}))
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("ended with %v", err)
				}
				if took := time.Since(began); took > 100*time.Millisecond+teardownTimeout {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// converse does all that a session can and returns why it ended.
func converse(ctx context.Context, options Options) error {
	s, err := Open(ctx, options)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	if err := s.Setup(ctx, 0); err != nil {
		return err
	}
	if err := s.Play(ctx); err != nil {
		return err
	}
	return s.Run(ctx, newRecord())
}

func TestAStepThatIsNotAnsweredIsATimeout(t *testing.T) {
	for method, step := range map[string]Step{"OPTIONS": StepOptions, "DESCRIBE": StepDescribe, "SETUP": StepSetup, "PLAY": StepPlay} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := converse(t.Context(), script(t, func(p *peer) {
					for r := p.next(); r != nil; r = p.next() {
						if r.method == method {
							for range 100 { // bytes that are no answer do not buy time
								time.Sleep(time.Second)
								p.write(".")
							}
							return
						}
						p.usual(r, videoSDP)
					}
				}))
				var e *Error
				if !errors.As(err, &e) || e.Step != step || (!errors.Is(err, ErrTimeout) && !errors.Is(err, ErrNotRTSP)) {
					t.Errorf("got %v, want a timeout of %s", err, step)
				}
			})
		})
	}
}

func TestRefusalsAreToldApart(t *testing.T) {
	for _, c := range []struct {
		method, status string
		step           Step
		kind           error
	}{
		{"DESCRIBE", "404 Not Found", StepDescribe, ErrNotFound},
		{"DESCRIBE", "403 Forbidden", StepDescribe, ErrAuth},
		{"DESCRIBE", "503 Service Unavailable", StepDescribe, ErrSessionLimit},
		{"SETUP", "453 Not Enough Bandwidth", StepSetup, ErrSessionLimit},
		{"SETUP", "461 Unsupported Transport", StepSetup, ErrTransportRefused},
		{"PLAY", "500 Internal", StepPlay, nil},
		{"PLAY", "454 Session Not Found", StepPlay, nil},
	} {
		t.Run(c.method+" "+c.status, func(t *testing.T) {
			err := converse(t.Context(), script(t, func(p *peer) {
				for r := p.next(); r != nil; r = p.next() {
					if r.method == c.method {
						p.reply(r, c.status, "")
						continue
					}
					p.usual(r, videoSDP)
				}
			}))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if e.Step != c.step || e.Kind != c.kind || fmt.Sprintf("%d %s", e.Status, e.Reason) != c.status {
				t.Errorf("got step %s, kind %v, status %d %s", e.Step, e.Kind, e.Status, e.Reason)
			}
			if e.Hint() == "" || !strings.Contains(e.Error(), c.status) {
				t.Errorf("error %q, hint %q", e.Error(), e.Hint())
			}
		})
	}
}

func TestCaseSessionLimitSaysHowLongToWait(t *testing.T) {
	for _, c := range []struct {
		headers []string
		want    time.Duration
	}{
		{nil, 60 * time.Second},
		{[]string{"Retry-After: 5"}, 60 * time.Second},
		{[]string{"Retry-After: 90"}, 90 * time.Second},
		{[]string{"Retry-After: tomorrow"}, 60 * time.Second},
	} {
		_, err := Open(t.Context(), script(t, func(p *peer) {
			p.usual(p.next(), "")
			p.reply(p.next(), "453 Not Enough Bandwidth", "", c.headers...)
		}))
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, ErrSessionLimit) || e.RetryAfter != c.want {
			t.Errorf("%q: got %v, retry after %v; want %v", c.headers, err, e.RetryAfter, c.want)
		}
	}
}

func TestCaseKeepaliveIsSentInTimeAndNeverKillsTheStream(t *testing.T) {
	for _, c := range []struct {
		name, public, session string
		status                string // of the answer; "" is none
		wait                  time.Duration
		want                  string
	}{
		{"by GET_PARAMETER", "GET_PARAMETER", "x;timeout=10", "200 OK", 30 * time.Second, "GET_PARAMETER GET_PARAMETER GET_PARAMETER GET_PARAMETER"},
		{"by OPTIONS when the camera knows no other", "DESCRIBE", "x;timeout=10", "200 OK", 30 * time.Second, "OPTIONS OPTIONS OPTIONS OPTIONS"},
		{"by OPTIONS once the other was refused", "GET_PARAMETER", "x; timeout=10", "400 Bad Request", 30 * time.Second, "GET_PARAMETER OPTIONS OPTIONS OPTIONS"},
		{"though never answered", "GET_PARAMETER", "x;timeout=10", "", 30 * time.Second, "GET_PARAMETER GET_PARAMETER GET_PARAMETER GET_PARAMETER"},
		{"each minute's part by default", "OPTIONS", "x", "200 OK", 100 * time.Second, "OPTIONS OPTIONS"},
		{"by default when the timeout is none", "OPTIONS", "x;timeout=soon", "200 OK", 100 * time.Second, "OPTIONS OPTIONS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := make(chan []*request, 1)
				s := play(t, script(t, func(p *peer) {
					for r := p.next(); r.method != "PLAY"; r = p.next() {
						switch r.method {
						case "OPTIONS":
							p.reply(r, "200 OK", "", "Public: DESCRIBE, "+c.public)
						case "SETUP":
							p.reply(r, "200 OK", "", "Session: "+c.session, "Transport: "+r.header.Get("Transport"))
						default:
							p.usual(r, videoSDP)
						}
					}
					p.reply(&request{header: nil}, "200 OK", "")
					p.stream(time.Second, func(i uint16) string { return frame(0, rtp('V', i, "")) })
					var seen []*request
					for r := p.next(); r != nil && r.method != "TEARDOWN"; r = p.next() {
						seen = append(seen, r)
						if c.status != "" {
							p.reply(r, c.status, "")
						}
					}
					asked <- seen
				}))
				ctx, cancel := context.WithTimeout(t.Context(), c.wait-500*time.Millisecond)
				defer cancel()
				if err := s.Run(ctx, newRecord()); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Run ended with %v", err)
				}
				_ = s.Close()
				seen := <-asked
				if got := methods(seen); got != c.want {
					t.Errorf("kept alive by %s, want %s", got, c.want)
				}
				for _, r := range seen {
					if r.uri != "rtsp://192.0.2.1/live" || r.header.Get("Session") != "x" {
						t.Errorf("%s of %s in session %q", r.method, r.uri, r.header.Get("Session"))
					}
				}
			})
		})
	}
}

func TestCaseKeepaliveRenewsAStaleNonce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		result := make(chan string, 1)
		s := play(t, script(t, func(p *peer) {
			g := &guard{username: "u", password: "p", challenges: []string{digestSHAQOP}, nonce: "n1", counts: map[string]bool{}}
			played, alive := false, 0
			for r := p.next(); r != nil; r = p.next() {
				if problem := g.check(r); problem != "" {
					challenge := strings.ReplaceAll(digestSHAQOP, "%s", g.nonce) + ", stale=" + fmt.Sprint(problem == "stale")
					p.reply(r, "401 Unauthorized", "", "WWW-Authenticate: "+challenge)
					continue
				}
				if played && r.method == "GET_PARAMETER" {
					alive++
					p.write(frame(0, rtp('V', uint16(alive), "")))
				}
				p.usual(r, videoSDP)
				if r.method == "PLAY" {
					played = true
					p.write(frame(0, rtp('V', 0, "")))
				}
				g.nonce = fmt.Sprint("n", 2+alive/2)
			}
			result <- fmt.Sprint(alive)
		}).withLogin("u", "p"))
		s.options.ReadTimeout = time.Minute
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Second)
		defer cancel()
		if err := s.Run(ctx, newRecord()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Run ended with %v", err)
		}
		_ = s.Close()
		if got := <-result; got != "5" {
			t.Errorf("%s keepalives got through, want 5", got)
		}
	})
}

func TestAKeepaliveWhoseNonceIsNeverFreshIsNotSentForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan int, 1)
		s := play(t, script(t, func(p *peer) {
			p.handshake(videoSDP)
			p.write(frame(0, rtp('V', 0, "")))
			n := 0
			for r := p.next(); r != nil && r.method != "TEARDOWN"; r = p.next() {
				n++
				p.reply(r, "401 Unauthorized", "", `WWW-Authenticate: Digest realm="x", nonce="y", stale=true`)
			}
			asked <- n
		}).withLogin("u", "p"))
		s.options.ReadTimeout = time.Minute
		if err := s.Run(t.Context(), newRecord()); !errors.Is(err, ErrTimeout) {
			t.Errorf("Run ended with %v", err)
		}
		_ = s.Close()
		if got, want := <-asked, 1+maxRenewals; got != want {
			t.Errorf("asked %d times, want %d", got, want)
		}
	})
}

func TestReportsAreSentWhileReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reports := make(chan []byte, 1)
		s := play(t, script(t, func(p *peer) {
			p.handshake(bothSDP)
			p.write(frame(0, rtp('V', 10, "")) + frame(0, rtp('V', 12, "")))
			p.rest("")
			reports <- p.frames
		}))
		if err := s.Run(t.Context(), newRecord()); !errors.Is(err, ErrTimeout) {
			t.Errorf("Run ended with %v, want ErrTimeout", err)
		}
		_ = s.Close()
		got := <-reports
		if len(got) < 56 || got[0] != '$' || got[1] != 1 || got[5] != rtcpReceiverReport {
			t.Fatalf("reports: %x", got)
		}
		if source, lost := string(got[12:16]), got[19]; source != "VVVV" || lost != 1 {
			t.Errorf("reported %d lost of %q: %x", lost, source, got)
		}
	})
}

func TestSilenceIsToldFromNeverHavingSent(t *testing.T) {
	for _, c := range []struct {
		packets int
		want    error
	}{{0, ErrNoPackets}, {1, ErrTimeout}} {
		synctest.Test(t, func(t *testing.T) {
			s := play(t, script(t, func(p *peer) {
				p.handshake(videoSDP)
				for range c.packets {
					p.write(frame(0, rtp('V', 0, "")))
				}
				p.stream(time.Second, func(uint16) string { return frame(1, bye('X')) }) // no sign of life
				p.rest("")
			}))
			began := time.Now()
			if err := s.Run(t.Context(), newRecord()); !errors.Is(err, c.want) {
				t.Errorf("Run ended with %v, want %v", err, c.want)
			}
			if took := time.Since(began); took != DefaultReadTimeout {
				t.Errorf("after %v, want %v", took, DefaultReadTimeout)
			}
			_ = s.Close()
		})
	}
}

func TestByeEndsTheStreamWhenItIsThatOfTheVideo(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"of the video", frame(1, bye('V')), "0:v 1:a"},
		{"of the audio only", frame(3, bye('A')) + frame(0, rtp('V', 2, "still")) + frame(1, bye('V')), "0:v 1:a 0:still"},
		{"of a stranger", frame(1, bye('X')) + frame(0, rtp('V', 2, "still")) + frame(1, bye('V')), "0:v 1:a 0:still"},
		{"by TEARDOWN", "TEARDOWN rtsp://x RTSP/1.0\r\nCSeq: 1\r\n\r\n", "0:v 1:a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := play(t, script(t, func(p *peer) {
				p.handshake(bothSDP)
				p.write(frame(0, rtp('V', 1, "v")) + frame(2, rtp('A', 1, "a")) + c.in)
				_, _ = io.Copy(io.Discard, p.in)
			}))
			heard := newRecord()
			if err := s.Run(t.Context(), heard); !errors.Is(err, ErrBye) {
				t.Errorf("Run ended with %v, want ErrBye", err)
			}
			if got := heard.packets(); got != c.want {
				t.Errorf("packets %s, want %s", got, c.want)
			}
			s.talk.timeout = time.Millisecond // this camera answers no TEARDOWN
		})
	}
}

func TestRequestsOfTheCameraAreAnswered(t *testing.T) {
	replies := make(chan string, 1)
	s := play(t, script(t, func(p *peer) {
		p.handshake(videoSDP)
		var got []string
		for _, method := range []string{"OPTIONS", "GET_PARAMETER", "SET_PARAMETER", "REDIRECT"} {
			p.write(method + " rtsp://x RTSP/1.0\r\nCSeq: 77\r\n\r\n")
			line, _ := p.in.ReadString('\n')
			got = append(got, strings.TrimSpace(line))
			for line != "\r\n" && line != "" {
				if line, _ = p.in.ReadString('\n'); strings.HasPrefix(line, "CSeq") {
					got = append(got, strings.TrimSpace(line))
				}
			}
		}
		replies <- strings.Join(got, ", ")
	}))
	if err := s.Run(t.Context(), newRecord()); !errors.Is(err, io.EOF) {
		t.Errorf("Run ended with %v, want EOF", err)
	}
	want := "RTSP/1.0 200 OK, CSeq: 77, RTSP/1.0 200 OK, CSeq: 77, RTSP/1.0 200 OK, CSeq: 77, RTSP/1.0 501 Not Implemented, CSeq: 77"
	if got := <-replies; got != want {
		t.Errorf("replies %s, want %s", got, want)
	}
}

func TestCaseFramingGarbageFramesBeforeThePlayReplyAreKept(t *testing.T) {
	s := play(t, script(t, func(p *peer) {
		for r := p.next(); r != nil; r = p.next() {
			if r.method == "PLAY" {
				p.write(frame(0, rtp('V', 1, "early")) + frame(9, "unknown"))
				p.write("RTSP/1.0 100 Continue\r\n\r\n")
				p.usual(r, "")
				p.write(frame(0, rtp('V', 2, "late")) + frame(1, bye('V')))
				continue
			}
			p.usual(r, videoSDP)
		}
	}))
	heard := newRecord()
	if err := s.Run(t.Context(), heard); !errors.Is(err, ErrBye) {
		t.Errorf("Run ended with %v, want ErrBye", err)
	}
	if got, want := heard.packets(), "0:early 0:late"; got != want {
		t.Errorf("packets %s, want %s", got, want)
	}
}

func TestCaseFramingGarbageWithoutEndGivesTheStreamUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, script(t, func(p *peer) {
			p.handshake(videoSDP)
			p.stream(50*time.Millisecond, func(i uint16) string { return frame(0, rtp('V', i, "")) + "\x01\x02" })
			p.rest("")
		}))
		if err := s.Run(t.Context(), newRecord()); !errors.Is(err, ErrFraming) {
			t.Errorf("Run ended with %v, want ErrFraming", err)
		}
		_ = s.Close()
	})
}

func TestCaseBackchannelIsNeverSetUp(t *testing.T) {
	seen := make(chan []*request, 1)
	s := open(t, script(t, func(p *peer) { seen <- p.rest(videoSDP + "m=audio 0 RTP/AVP 0\r\na=sendonly\r\na=control:talk\r\n") }))
	if err := s.Setup(t.Context(), 1); err == nil {
		t.Error("the talk-back was set up")
	}
	if err := s.Setup(t.Context(), 0); err != nil {
		t.Error(err)
	}
	_ = s.Close()
	all := <-seen
	if got, want := methods(all), "OPTIONS DESCRIBE SETUP TEARDOWN"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	for _, r := range all {
		if r.header.Get("Require") != "" {
			t.Errorf("%s requires %s", r.method, r.header.Get("Require"))
		}
	}
}

func TestAMediaThatIsRefusedLeavesTheOthers(t *testing.T) {
	s := open(t, script(t, func(p *peer) {
		for r := p.next(); r != nil; r = p.next() {
			if strings.HasSuffix(r.uri, "trackID=0") {
				p.reply(r, "404 Not Found", "")
				continue
			}
			p.usual(r, bothSDP)
			if r.method == "PLAY" {
				p.write(frame(0, rtp('A', 1, "a")) + frame(1, bye('A')))
			}
		}
	}))
	if err := s.Setup(t.Context(), 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("Setup of the first: %v", err)
	}
	if err := s.Setup(t.Context(), 1); err != nil {
		t.Errorf("Setup of the second: %v", err)
	}
	if err := s.Play(t.Context()); err != nil {
		t.Error(err)
	}
	heard := newRecord()
	if err := s.Run(t.Context(), heard); !errors.Is(err, ErrBye) || heard.packets() != "1:a" {
		t.Errorf("Run ended with %v after %s", err, heard.packets())
	}
}

func TestTheCamerasChoiceOfChannelsIsTaken(t *testing.T) {
	for transport, channel := range map[string]byte{
		"RTP/AVP/TCP;unicast;interleaved=6-7":           6,
		"RTP/AVP/TCP;unicast;interleaved=6":             6,
		"RTP/AVP/TCP;unicast;interleaved=x-y;ssrc=zz":   0,
		"RTP/AVP/TCP;unicast;interleaved=255":           0,
		"RTP/AVP/TCP;unicast;interleaved=5-5":           0,
		"":                                              0,
		"RTP/AVP/TCP; unicast; Interleaved = 8 - 9;x=y": 8,
	} {
		s := play(t, script(t, func(p *peer) {
			for r := p.next(); r != nil; r = p.next() {
				if r.method == "SETUP" {
					p.reply(r, "200 OK", "", "Session: 1", "Transport: "+transport)
					continue
				}
				p.usual(r, videoSDP)
				if r.method == "PLAY" {
					p.write(frame(channel, rtp('V', 1, "v")) + frame(channel+1, bye('V')))
				}
			}
		}))
		heard := newRecord()
		if err := s.Run(t.Context(), heard); !errors.Is(err, ErrBye) || heard.packets() != "0:v" {
			t.Errorf("%q: Run ended with %v after %s", transport, err, heard.packets())
		}
	}
}

func TestATransportThatWasNotAskedForIsARefusal(t *testing.T) {
	s := open(t, script(t, func(p *peer) {
		for r := p.next(); r != nil; r = p.next() {
			if r.method == "SETUP" {
				p.reply(r, "200 OK", "", "Session: 1", "Transport: RTP/AVP;unicast;client_port=4-5;server_port=6-7")
				continue
			}
			p.usual(r, videoSDP)
		}
	}))
	if err := s.Setup(t.Context(), 0); !errors.Is(err, ErrTransportRefused) {
		t.Errorf("got %v, want ErrTransportRefused", err)
	}
}

func TestCaseControlURLIsAskedForOnTheWire(t *testing.T) {
	const media = "m=video 0 RTP/AVP 96\r\n"
	for _, c := range []struct{ name, sdp, base, setup, play string }{
		{"none at all", media, "", "/live?a=b", "/live?a=b"},
		{"relative to the URL", media + "a=control:t1\r\n", "", "/live?a=b/t1", "/live?a=b"},
		{"relative to Content-Base", media + "a=control:t1\r\n", "Content-Base: rtsp://10.1.1.1/1?mode=Live/", "/1?mode=Live/t1", "/1?mode=Live/"},
		{"base that is none", media + "a=control:t1\r\n", "Content-Base: live", "/live?a=b/t1", "/live?a=b"},
		{"absolute, other host", media + "a=control:rtsp://10.1.1.1:99/x/t1\r\n", "", "/x/t1", "/live?a=b"},
		{"of the session", "a=control:rtsp://10.1.1.1/agg\r\n" + media + "a=control:t1\r\n", "Content-Base: rtsp://h/b/", "/b/t1", "/agg"},
		{"star", "a=control:*\r\n" + media + "a=control:t1\r\n", "Content-Location: rtsp://h/b/", "/b/t1", "/b/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := make(chan []*request, 1)
			options := script(t, func(p *peer) {
				var all []*request
				for r := p.next(); r != nil; r = p.next() {
					all = append(all, r)
					if r.method == "DESCRIBE" && c.base != "" {
						p.reply(r, "200 OK", c.sdp, c.base)
						continue
					}
					p.usual(r, c.sdp)
				}
				seen <- all
			})
			options.URL = "rtsp://192.0.2.1/live?a=b"
			s := play(t, options)
			_ = s.Close()
			all := <-seen
			if got, want := all[2].uri, "rtsp://192.0.2.1"+c.setup; got != want {
				t.Errorf("SETUP %s, want %s", got, want)
			}
			if got, want := all[3].uri, "rtsp://192.0.2.1"+c.play; got != want {
				t.Errorf("PLAY %s, want %s", got, want)
			}
			if all[3].uri != all[4].uri {
				t.Errorf("TEARDOWN %s", all[4].uri)
			}
		})
	}
}

func TestCaseControlURLMayBeThatOfTwoMedias(t *testing.T) {
	s := play(t, script(t, func(p *peer) {
		p.rest(strings.ReplaceAll(bothSDP, "trackID=1", "trackID=0"))
	}))
	if len(s.tracks) != 2 {
		t.Errorf("%d tracks, want 2", len(s.tracks))
	}
}

func TestCaseSSRFRedirectIsFollowedWithoutTheLogin(t *testing.T) {
	second := make(chan []*request, 1)
	options := script(t, func(p *peer) {
		if p.address == "192.0.2.2:8554" {
			second <- p.rest(videoSDP)
			return
		}
		g := &guard{username: "u", password: "p", challenges: []string{digestMD5}, nonce: "n", counts: map[string]bool{}}
		for r := p.next(); r != nil; r = p.next() {
			if g.check(r) != "" {
				p.reply(r, "401 Unauthorized", "", "WWW-Authenticate: "+strings.ReplaceAll(digestMD5, "%s", "n"))
				continue
			}
			if r.method == "DESCRIBE" {
				p.reply(r, "302 Moved", "", "Location: rtsp://u:p@192.0.2.2:8554/there?x=y")
				continue
			}
			p.usual(r, "")
		}
	}).withLogin("u", "p")
	s := play(t, options)
	_ = s.Close()
	for _, r := range <-second {
		if r.header.Get("Authorization") != "" {
			t.Errorf("%s took the login along: %s", r.method, r.header.Get("Authorization"))
		}
		if !strings.HasPrefix(r.uri, "rtsp://192.0.2.2:8554/there?x=y") {
			t.Errorf("%s of %s", r.method, r.uri)
		}
	}
}

func TestCaseSSRFRedirectKeepsTheLoginOnTheSameServer(t *testing.T) {
	g := &guard{username: "u", password: "p", challenges: []string{basic}}
	s := open(t, script(t, func(p *peer) {
		for r := p.next(); r != nil; r = p.next() {
			switch {
			case g.check(r) != "":
				p.reply(r, "401 Unauthorized", "", "WWW-Authenticate: "+basic)
			case r.method == "DESCRIBE" && r.uri == "rtsp://192.0.2.1/live":
				p.reply(r, "301 Moved", "", "Location: /there")
			default:
				p.usual(r, videoSDP)
			}
		}
	}).withLogin("u", "p"))
	if got, want := s.target.String(), "rtsp://192.0.2.1/there"; got != want {
		t.Errorf("described %s, want %s", got, want)
	}
}

func TestCaseSSRFRedirectIsBounded(t *testing.T) {
	for location, dials := range map[string]int{
		"rtsp://192.0.2.1/live":                1 + maxRedirects, // to itself
		"/live":                                1 + maxRedirects,
		"":                                     1,
		"http://192.0.2.2/":                    1,
		"rtsp://169.254.169.254/latest":        1,
		"rtsp://[::ffff:169.254.169.254]:554/": 1,
		"rtsp://[fd00:ec2::254]/":              1,
		"rtsp://0.0.0.0/":                      1,
		"rtsp://192.0.2.2:22/":                 1,
		"rtsp://192.0.2.2:80/":                 1,
		"rtsp://user:secret@host@evil/\x01redirect": 1,
	} {
		t.Run(location, func(t *testing.T) {
			n := 0
			options := script(t, func(p *peer) {
				n++
				for r := p.next(); r != nil; r = p.next() {
					if r.method == "DESCRIBE" {
						p.reply(r, "302 Found", "", "Location: "+location)
						continue
					}
					p.usual(r, "")
				}
			})
			var dialled int
			dial := options.DialContext
			options.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
				dialled++
				return dial(ctx, network, address)
			}
			_, err := Open(t.Context(), options)
			if !errors.Is(err, ErrRedirect) {
				t.Errorf("got %v, want ErrRedirect", err)
			}
			if dialled != dials {
				t.Errorf("dialled %d times, want %d", dialled, dials)
			}
		})
	}
}

func TestCaseSSRFRedirectDoesNotTellWhatAPortDid(t *testing.T) {
	texts := map[string]bool{}
	for _, failure := range []error{errors.New("connection refused"), context.DeadlineExceeded, errors.New("no route to host")} {
		options := script(t, func(p *peer) {
			for r := p.next(); r != nil; r = p.next() {
				if r.method == "DESCRIBE" {
					p.reply(r, "302 Found", "", "Location: rtsp://192.0.2.2/")
					continue
				}
				p.usual(r, "")
			}
		})
		dial := options.DialContext
		options.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if address == "192.0.2.2:554" {
				return nil, failure
			}
			return dial(ctx, network, address)
		}
		_, err := Open(t.Context(), options)
		texts[err.Error()] = true
	}
	if len(texts) != 1 {
		t.Errorf("told apart: %v", texts)
	}
}

func TestAddressesWithoutCamerasAreNotDialled(t *testing.T) {
	for text, allowed := range map[string]bool{
		"127.0.0.1": true, "::1": true, "10.0.0.1": true, "192.168.1.20": true, "8.8.8.8": true, "fd00::1": true, "2001:db8::1": true,
		"100.64.0.1": true, "64:ff9b::808:808": true,
		"169.254.169.254": false, "::ffff:169.254.169.254": false, "fe80::1": false, "fe80::1%eth0": false, "0.0.0.0": false, "::": false,
		"224.0.0.1": false, "ff02::1": false, "255.255.255.255": false, "0.1.2.3": false, "100.100.100.200": false, "168.63.129.16": false,
		"fd00:ec2::254": false, "64:ff9b::a9fe:a9fe": false, "2002:a9fe:a9fe::1": false,
	} {
		if err := DefaultAllowAddr(netip.MustParseAddr(text)); (err == nil) != allowed {
			t.Errorf("%s: %v, want allowed %v", text, err, allowed)
		}
	}
	options := Options{URL: "rtsp://169.254.169.254/x", DialContext: func(context.Context, string, string) (net.Conn, error) {
		t.Error("dialled")
		return nil, errors.New("dialled")
	}}
	if _, err := Open(t.Context(), options); !errors.Is(err, ErrAddress) {
		t.Errorf("got %v, want ErrAddress", err)
	}
}

func TestCaseCredLeakNothingShowsTheSecret(t *testing.T) {
	const secretWord = "SECRET"
	fails := map[string]func(p *peer, r *request){
		"echoed by the camera": func(p *peer, r *request) { p.reply(r, "404 No "+secretWord+" here", "") },
		"echoed in a URL":      func(p *peer, r *request) { p.reply(r, "404 rtsp://u:SECRET@h/?password=SECRET2", "") },
		"redirected":           func(p *peer, r *request) { p.reply(r, "302 x", "", "Location: gopher://u:SECRET@h/?pwd=SECRET2") },
		"refused":              func(p *peer, r *request) { p.reply(r, "401 no", "", "WWW-Authenticate: "+basic) },
		"no media":             func(p *peer, r *request) { p.reply(r, "200 OK", "v=0\r\n") },
	}
	for name, fail := range fails {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			options := script(t, func(p *peer) {
				for r := p.next(); r != nil; r = p.next() {
					fail(p, r)
				}
			}).withLogin("u", secretWord)
			options.URL += "?user=u&password=SECRET2"
			options.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			_, err := Open(t.Context(), options)
			shown(t, log.String(), err)
		})
	}
	for _, url := range []string{
		"rtsp://u:SECRET@h/?password=SECRET2", "rtsp://u:SECRET@h:x/", "http://u:SECRET@h", "rtsp://h:SECRET", "rtsp://no-such-host.invalid/?password=SECRET2", "rtsp://%zz/SECRET",
		"rtsp://127.0.0.1:1/?password=SECRET2",
	} {
		_, err := Open(t.Context(), Options{URL: url})
		shown(t, "", err)
	}
}

func shown(t *testing.T, log string, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	for _, text := range []string{log, err.Error(), e.Hint(), e.Reason, fmt.Sprintf("%+v", e)} {
		if strings.Contains(text, "SECRET") {
			t.Errorf("shown in %q", text)
		}
	}
}

func TestWhatIsNoRTSPServerIsNamed(t *testing.T) {
	for name, answer := range map[string]string{
		"a web server": "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
		"a flood":      strings.Repeat("x", 2*maxBodyBytes),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), script(t, func(p *peer) {
				p.next()
				p.write(answer)
			}))
			if !errors.Is(err, ErrNotRTSP) {
				t.Errorf("got %v, want ErrNotRTSP", err)
			}
		})
	}
}

func TestADescriptionWithoutMediaIsSaid(t *testing.T) {
	_, err := Open(t.Context(), script(t, func(p *peer) { p.rest("v=0\r\n") }))
	if !errors.Is(err, ErrNoMedia) {
		t.Errorf("got %v, want ErrNoMedia", err)
	}
}

func TestOPTIONSMayBeUnknown(t *testing.T) {
	s := open(t, script(t, func(p *peer) {
		for r := p.next(); r != nil; r = p.next() {
			if r.method == "OPTIONS" {
				p.reply(r, "501 Not Implemented", "")
				continue
			}
			p.usual(r, videoSDP)
		}
	}))
	if s.keep != "OPTIONS" {
		t.Errorf("would be kept alive by %s", s.keep)
	}
}

func TestRepliesThatAreNumberedWrongAreBelieved(t *testing.T) {
	play(t, script(t, func(p *peer) {
		for r := p.next(); r != nil; r = p.next() {
			r.header.Set("Cseq", "99")
			if r.method == "PLAY" {
				r.header.Del("Cseq")
			}
			p.usual(r, videoSDP)
		}
	}))
}

func TestWhatTheHandlerDoesNotCopyIsStillThereInItsBatch(t *testing.T) {
	s := play(t, script(t, func(p *peer) {
		p.handshake(videoSDP)
		var all strings.Builder
		for i := range uint16(100) {
			all.WriteString(frame(0, rtp('V', i, fmt.Sprintf("%04d", i))))
		}
		p.write(all.String() + frame(1, bye('V')))
		p.rest("")
	}))
	h := &keeper{t: t}
	if err := s.Run(t.Context(), h); !errors.Is(err, ErrBye) {
		t.Errorf("Run ended with %v", err)
	}
	if h.seen != 100 {
		t.Errorf("%d packets, want 100", h.seen)
	}
}

type keeper struct {
	t    *testing.T
	held [][]byte
	seen int
}

func (k *keeper) RTP(_ int, packet []byte, _ time.Time) { k.held = append(k.held, packet) }
func (k *keeper) RTCP(int, []byte, time.Time)           {}
func (k *keeper) BatchEnd() {
	for _, packet := range k.held {
		if got, want := string(packet[12:]), fmt.Sprintf("%04d", k.seen); got != want {
			k.t.Errorf("packet %s, want %s", got, want)
		}
		k.seen++
	}
	k.held = nil
}
