package rtsp

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/ingest/rtsp/depacket"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// TestWireCases makes each thing that real cameras were seen to do happen, in the
// smallest way, and looks at what comes out at the other end: frames and status.
// docs/cameras.md tells of them by the same names.
//
// All cameras are pulled side by side, so that the test takes as long as the
// slowest.
func TestWireCases(t *testing.T) {
	t.Parallel()
	cases := wireCases()
	w := &wire{t: t, references: map[string]*reference{}, changes: map[string][]func(*camera.SourceSpec){}}
	for _, name := range rtsptest.ClipNames() {
		w.references[name] = loadReference(t, name)
	}
	checks := make([]func(*testing.T), len(cases))
	for i, c := range cases {
		checks[i] = c.begin(w)
	}
	w.run()
	for i, c := range cases {
		t.Run(c.name, checks[i])
	}
}

// A wireCase adds its cameras, and returns what is to be looked at when they are
// pulled.
type wireCase struct {
	name  string
	begin func(w *wire) func(t *testing.T)
}

func wireCases() []wireCase {
	return []wireCase{
		{"hevc-browser", hevcBrowser},
		{"g711-silent", g711Silent},
		{"ts-jump", tsJump},
		{"dts-extract", dtsExtract},
		{"long-gop", longGOP},
		{"frozen-open", frozenOpen},
		{"udp-blocked-loss", udpBlockedLoss},
		{"cred-leak", credLeak},
		{"sps-missing", spsMissing},
		{"aac-config", aacConfig},
		{"sdp-malformed", sdpMalformed},
		{"special-password", specialPassword},
		{"keepalive", keepalive},
		{"session-limit", sessionLimit},
		{"reconnect-storm", reconnectStorm},
		{"control-url", controlURL},
		{"digest-modern", digestModern},
		{"backchannel", backchannel},
		{"odd-media", oddMedia},
		{"clock-ntp", clockNTP},
		{"av-offset", avOffset},
		{"res-change", resChange},
		{"annexb-rtp", annexBRTP},
		{"fua-se", fuaSE},
		{"nal-limits", nalLimits},
		{"framing-garbage", framingGarbage},
		{"status-text", statusText},
		{"pkt-mode0", pktMode0},
		{"ssrf-redirect", ssrfRedirect},
		// It takes longest: what the others look at would be over by then.
		{"ts-nonsense", tsNonsense},
	}
}

// TestTheDocumentationTellsOfEachWireCase holds docs/cameras.md against the cases.
func TestTheDocumentationTellsOfEachWireCase(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "cameras.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Case by case")
	section, _, _ = strings.Cut(section, "\n## ")
	var told []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z0-9-]+) \|`).FindAllStringSubmatch(section, -1) {
		if row[1] != "case" {
			told = append(told, row[1])
		}
	}
	var cases []string
	for _, c := range wireCases() {
		cases = append(cases, c.name)
	}
	if !slices.Equal(told, cases) {
		t.Errorf("told of %q,\nbut the cases are %q", told, cases)
	}
	for reason := range depacket.Reasons {
		if name := depacket.Reason(reason).String(); !strings.Contains(string(text), "| `"+name+"` |") {
			t.Errorf("the reason %s is not told of", name)
		}
	}
}

// wireStall is how long a stream may be silent in these tests.
const wireStall = 3 * time.Second

// wire gathers the cameras of all cases.
type wire struct {
	t          *testing.T
	references map[string]*reference
	configs    []rtsptest.CameraConfig
	changes    map[string][]func(*camera.SourceSpec) // of those, by path
	specs      []camera.Spec
	before     []func() // to be done when the simulated cameras run, and nothing is pulled yet

	// From run on.
	server *rtsptest.Server
	rig    *rig
}

func (w *wire) clip(name string) *rtsptest.Clip { return w.references[name].clip }

// feeder of a clip.
func (w *wire) feeder(clip string) *feeder { return newFeeder(w.clip(clip)) }

// peer adds a scripted camera.
func (w *wire) peer(id string, p *peer, change ...func(*camera.SourceSpec)) *peer {
	w.url(id, p.start(w.t), change...)
	return p
}

// url adds a camera that is wherever it is. TCP alone is tried unless it is said
// otherwise: these cases are about something else.
func (w *wire) url(id, url string, change ...func(*camera.SourceSpec)) {
	change = append([]func(*camera.SourceSpec){over(camera.TransportTCP)}, change...)
	w.specs = append(w.specs, spec(w.t, id, url, change...))
}

// camera adds a simulated camera; its path is its id.
func (w *wire) camera(c rtsptest.CameraConfig, change ...func(*camera.SourceSpec)) {
	w.configs = append(w.configs, c)
	w.changes[c.Path] = append([]func(*camera.SourceSpec){over(camera.TransportTCP)}, change...)
}

func (w *wire) run() {
	w.server = rtsptest.Start(w.t, w.configs...)
	for _, c := range w.configs {
		w.specs = append(w.specs, spec(w.t, c.Path, w.server.Camera(c.Path).URL(), w.changes[c.Path]...))
	}
	for _, do := range w.before {
		do()
	}
	w.rig = pull(w.t, func(o *camera.Options) { o.StallTimeout = wireStall }, w.specs...)
}

// plays checks that a camera's pictures come, as those of a clip and over one
// connection, and returns all frames.
func (w *wire) plays(t *testing.T, id, clip string, count int) []shot {
	t.Helper()
	shots := w.rig.untilShots(t, id, "pictures", func(shots []shot) bool { return len(pictures(shots)) >= count })
	w.references[clip].follow(t, pictures(shots))
	if s := w.rig.status(t, id); s.State != camera.StateLive || s.Error != "" || s.Reconnects != 0 {
		t.Errorf("%s: status %+v", id, s)
	}
	return shots
}

// playsAll is plays, for the variants of a case.
func (w *wire) playsAll(t *testing.T, clip string, ids ...string) {
	for _, id := range ids {
		t.Run(id, func(t *testing.T) { w.plays(t, id, clip, 5) })
	}
}

// places returns which pictures of a clip shots are.
func (w *wire) places(t *testing.T, clip string, shots []shot) []int {
	t.Helper()
	var places []int
	for i, s := range pictures(shots) {
		place, ok := w.references[clip].index[s.payload]
		if !ok {
			t.Fatalf("picture %d is none of clip %s", i, clip)
		}
		places = append(places, place)
	}
	return places
}
