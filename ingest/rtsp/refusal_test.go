package rtsp

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/secret"
	"github.com/drover-video/drover/ingest/rtsptest"
)

func withLogin(username, password string) func(*camera.SourceSpec) {
	return func(s *camera.SourceSpec) { s.Username, s.Password = username, secret.New(password) }
}

func TestARefusalIsSaidAndCostsNoOtherCamera(t *testing.T) {
	t.Parallel()
	rows := []struct {
		path, want string
		config     rtsptest.CameraConfig
		mend       func(*rtsptest.CameraConfig)
		alone      bool // it is not tried again for long
		slow       bool // it takes long to fail
	}{
		{"no-login", "the camera asks for a login: give user name and password",
			rtsptest.CameraConfig{Auth: rtsptest.AuthDigest, User: "admin", Password: "x"},
			func(c *rtsptest.CameraConfig) { c.Auth = rtsptest.AuthNone }, true, false},
		{"forbidden", "the camera asks for a login: give user name and password",
			rtsptest.CameraConfig{Status: map[string]int{"DESCRIBE": 403}}, func(c *rtsptest.CameraConfig) { c.Status = nil }, true, false},
		{"not-found", "the camera has no stream of this name: check the path of the URL",
			rtsptest.CameraConfig{Status: map[string]int{"DESCRIBE": 404}}, func(c *rtsptest.CameraConfig) { c.Status = nil }, false, false},
		{"453", "the camera serves no more sessions",
			rtsptest.CameraConfig{Status: map[string]int{"SETUP": 453}}, func(c *rtsptest.CameraConfig) { c.Status = nil }, true, false},
		{"503", "the camera serves no more sessions",
			rtsptest.CameraConfig{Status: map[string]int{"DESCRIBE": 503}}, func(c *rtsptest.CameraConfig) { c.Status = nil }, true, false},
		{"500", "the camera reports a fault of its own",
			rtsptest.CameraConfig{Status: map[string]int{"PLAY": 500}}, func(c *rtsptest.CameraConfig) { c.Status = nil }, false, false},
		{"454", "the camera refused the request",
			rtsptest.CameraConfig{Status: map[string]int{"PLAY": 454}}, func(c *rtsptest.CameraConfig) { c.Status = nil }, false, false},
		{"nonsense", "does not speak RTSP",
			rtsptest.CameraConfig{Answer: rtsptest.AnswerNonsense}, func(c *rtsptest.CameraConfig) { c.Answer = rtsptest.AnswerNormal }, false, true},
		{"no-answer", "the camera stopped answering",
			rtsptest.CameraConfig{Answer: rtsptest.AnswerNever}, func(c *rtsptest.CameraConfig) { c.Answer = rtsptest.AnswerNormal }, false, true},
		{"silent-at-setup", "the camera stopped answering",
			rtsptest.CameraConfig{Status: map[string]int{"SETUP": rtsptest.NoAnswer}}, func(c *rtsptest.CameraConfig) { c.Status = nil }, false, true},
		{"no-media", "offers no stream",
			rtsptest.CameraConfig{RewriteSDP: func(string) string { return "v=0\r\ns=x\r\nt=0 0\r\n" }}, func(c *rtsptest.CameraConfig) { c.RewriteSDP = nil }, false, false},
		{"nothing-usable", "VP8 video cannot be played in browsers: set the camera's stream to H.264",
			rtsptest.CameraConfig{RewriteSDP: func(sdp string) string { return strings.ReplaceAll(sdp, "H264", "VP8") }}, func(c *rtsptest.CameraConfig) { c.RewriteSDP = nil }, false, false},
	}
	cameras := []rtsptest.CameraConfig{{Path: "healthy", AAC: true}}
	for _, row := range rows {
		row.config.Path = row.path
		cameras = append(cameras, row.config)
	}
	server := rtsptest.Start(t, cameras...)
	r := pull(t, nil, specsOf(t, server)...)
	for _, row := range rows {
		t.Run(row.path, func(t *testing.T) {
			s := r.untilError(t, row.path, row.want)
			if s.State == camera.StateLive || len(pictures(r.tape(row.path).shots())) != 0 {
				t.Errorf("status %+v", s)
			}
			if got := r.stateHistory(row.path); got[0] != camera.StateBackoff {
				t.Errorf("states %v", got)
			}
			if n := r.log.count(row.path, "level=WARN", "not live"); n != 1 {
				t.Errorf("%d warnings:\n%s", n, r.log.of(row.path, "not live"))
			}
			set(t, server.Camera(row.path), row.mend)
			// One that wants to be left alone was asked once, however short the
			// back-off is, until somebody says that it is mended.
			if seen := server.Camera(row.path).Seen(); row.alone && seen.ConnsEver != 1 {
				t.Errorf("%d connections to a camera that is to be left alone", seen.ConnsEver)
			}
			if row.alone || row.slow {
				if err := r.registry.Restart(t.Context(), row.path); err != nil {
					t.Fatal(err)
				}
			}
			if s := r.untilLive(t, row.path); s.Error != "" {
				t.Errorf("live, with the error %q", s.Error)
			}
		})
	}
	if s := r.status(t, "healthy"); s.Reconnects != 0 || s.State != camera.StateLive {
		t.Errorf("the healthy camera: %+v", s)
	}
	shots := r.tape("healthy").shots()
	ref := loadReference(t, "h264")
	ref.follow(t, pictures(shots))
	ref.hear(t, sound(shots))
}

func TestAStreamThatIsNotThereIsSaid(t *testing.T) {
	t.Parallel()
	server := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door"})
	r := pull(t, nil, spec(t, "other", "rtsp://"+server.Addr()+"/other?channel=1&password=SECRET"))
	r.untilError(t, "other", "the camera has no stream of this name: check the path of the URL (describe: the camera has no such stream: status 404 Not Found)")
}

func TestASlotIsGivenBackAndWaitedFor(t *testing.T) {
	t.Parallel()
	server := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", AAC: true, Slots: 1, SlotHold: time.Hour})
	door := server.Camera("door")
	// Orderly restarts of the server: each finds the slot free.
	for n := 1; n <= 3; n++ {
		r := pull(t, nil, specsOf(t, server)...)
		r.untilLive(t, "door")
		r.stop()
		if seen := door.Seen(); seen.Teardowns != n || seen.ConnsEver != n {
			t.Fatalf("after %d restarts: %d connections, %d teardowns", n, seen.ConnsEver, seen.Teardowns)
		}
	}
	// One that was killed leaves its slot taken.
	vanish(t, door)
	r := pull(t, nil, specsOf(t, server)...)
	s := r.untilError(t, "door", "the camera serves no more sessions: close other viewers of it, or wait until it forgets an old session")
	if s.State != camera.StateBackoff {
		t.Errorf("status %+v", s)
	}
	set(t, door, func(c *rtsptest.CameraConfig) { c.Slots = 2 })
	if err := r.registry.Restart(t.Context(), "door"); err != nil {
		t.Fatal(err)
	}
	r.untilLive(t, "door")
}

func TestPasswordsOfAllSortsLogInAndAppearNowhere(t *testing.T) {
	t.Parallel()
	passwords := map[string]string{ // plain to percent-encoded
		`SECRETp@ss`: "SECRETp%40ss", `SECRET:x`: "SECRET%3Ax", `SECRET/x`: "SECRET%2Fx", `SECRET?x`: "SECRET%3Fx",
		`SECRET#x`: "SECRET%23x", `SECRET%x`: "SECRET%25x", `SECRET%41`: "SECRET%2541",
		`p@s#/:?%^!"SECRET\ &=+äß`: "p%40s%23%2F%3A%3F%25%5E!%22SECRET%5C%20&=+%C3%A4%C3%9F",
	}
	plain := make([]string, 0, len(passwords))
	for password := range passwords {
		plain = append(plain, password)
	}
	slices.Sort(plain)
	var cameras []rtsptest.CameraConfig
	for i, password := range plain {
		for _, auth := range []rtsptest.Auth{rtsptest.AuthBasic, rtsptest.AuthDigest} {
			for _, way := range []string{"fields", "url", "wrong"} {
				c := rtsptest.CameraConfig{
					Path: string(auth) + "-" + way + "-" + string(rune('a'+i)), Auth: auth, User: "ad@min", Password: password,
					Faults: []rtsptest.Fault{{After: 200 * time.Millisecond, Once: true, Do: rtsptest.Close()}},
				}
				if way == "wrong" {
					c.Password = "another"
				}
				cameras = append(cameras, c)
			}
		}
	}
	server := rtsptest.Start(t, cameras...)
	var specs []camera.Spec
	for i, c := range cameras {
		password := plain[i/6]
		url := server.Camera(c.Path).URL()
		if strings.Contains(c.Path, "-fields-") {
			specs = append(specs, spec(t, c.Path, url, withLogin("ad@min", password)))
		} else {
			specs = append(specs, spec(t, c.Path, strings.Replace(url, "://", "://ad%40min:"+passwords[password]+"@", 1)))
		}
	}
	r := pull(t, nil, specs...)
	for _, c := range cameras {
		t.Run(c.Path, func(t *testing.T) {
			if strings.Contains(c.Path, "-wrong-") {
				s := r.untilError(t, c.Path, "the camera refused the login: check user name and password")
				// Cameras lock after a few.
				if seen := server.Camera(c.Path).Seen(); len(seen.Authorizations) != 1 || s.State != camera.StateBackoff {
					t.Errorf("tried %d times, %s", len(seen.Authorizations), s.State)
				}
				return
			}
			r.untilShots(t, c.Path, "pictures of the second connection", inEpoch(2, 1))
		})
	}
	r.stop()
	if text := r.everything(); strings.Contains(text, "SECRET") {
		at := strings.Index(text, "SECRET")
		t.Errorf("a password is shown: …%s…", text[max(0, at-200):min(len(text), at+50)])
	}
}
