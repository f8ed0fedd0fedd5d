package conform

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const multivariant = `#EXTM3U
#EXT-X-VERSION:6
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="sound",NAME="Sound",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="1",URI="sound.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=2200000,AVERAGE-BANDWIDTH=2100000,CODECS="avc1.64001F,mp4a.40.2",RESOLUTION=1280x720,FRAME-RATE=25.000,AUDIO="sound"
main.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=400000,CODECS="avc1.640015,mp4a.40.2",RESOLUTION=640x360,AUDIO="sound"
sub.m3u8
`

func TestAMultivariantPlaylistIsReadAsAPlayerDoes(t *testing.T) {
	m, err := ParseMultivariant([]byte(multivariant))
	if err != nil {
		t.Fatal(err)
	}
	want := &Multivariant{Version: 6, Independent: true, Audio: []Rendition{{"sound", "Sound", "sound.m3u8"}}, Variants: []Variant{
		{URI: "main.m3u8", Bandwidth: 2_200_000, Average: 2_100_000, Codecs: []string{"avc1.64001F", "mp4a.40.2"}, Width: 1280, Height: 720, FrameRate: 25, Audio: "sound"},
		{URI: "sub.m3u8", Bandwidth: 400_000, Codecs: []string{"avc1.640015", "mp4a.40.2"}, Width: 640, Height: 360, Audio: "sound"},
	}}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("got %+v", m)
	}
	if got := strings.Join(m.uris(), " "); got != "main.m3u8 sub.m3u8 sound.m3u8" {
		t.Errorf("got %s", got)
	}
}

func TestEachRuleOfAMultivariantPlaylistIsSeenWhenBroken(t *testing.T) {
	for _, c := range []struct{ old, new, section string }{
		{"#EXTM3U", "#EXTM4U", "4.3.1.1"},
		{"sub.m3u8\n", "", "4.3.4.2"},
		{"main.m3u8\n", "#EXT-X-VERSION:6\n", "4.3.4.2"},
		{"BANDWIDTH=2200000,", "", "4.3.4.2"},
		{"AVERAGE-BANDWIDTH=2100000", "AVERAGE-BANDWIDTH=2300000", "4.3.4.2"},
		{`CODECS="avc1.640015,mp4a.40.2",`, "", "4.3.4.2"},
		{`"avc1.640015,mp4a.40.2"`, `"avc1.640015"`, "4.3.4.2"},
		{"RESOLUTION=640x360", "RESOLUTION=640", "4.3.4.2"},
		{`RESOLUTION=640x360,AUDIO="sound"`, `RESOLUTION=640x360,AUDIO="noise"`, "4.3.4.2"},
		{"FRAME-RATE=25.000", "FRAME-RATE=fast", "4.3.4.2"},
		{"TYPE=AUDIO", "TYPE=SMELL", "4.3.4.1"},
		{"AUTOSELECT=YES", "AUTOSELECT=NO", "4.3.4.1"},
		{`NAME="Sound",`, "", "4.3.4.1"},
		{"#EXT-X-STREAM-INF", "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"sound\",NAME=\"Sound\"\n#EXT-X-STREAM-INF", "4.3.4.1.1"},
		{"#EXT-X-INDEPENDENT-SEGMENTS", "#EXT-X-NONSENSE", "unexpected"},
	} {
		if _, err := ParseMultivariant([]byte(strings.Replace(multivariant, c.old, c.new, 1))); err == nil || !strings.Contains(err.Error(), c.section) {
			t.Errorf("%q for %q: %v, want %s", c.new, c.old, err, c.section)
		}
	}
}

func FuzzMultivariant(f *testing.F) {
	f.Add([]byte(multivariant))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = ParseMultivariant(data) })
}

// A trio is the playlists of a camera of two sources, as a presentation knows them.
type trio struct {
	*presentation
	checkers map[string]*Checker
	last     map[string]*Playlist
	known    map[string]map[string]uint64
}

func newTrio() *trio {
	p := &trio{newPresentation(), map[string]*Checker{}, map[string]*Playlist{}, map[string]map[string]uint64{}}
	for _, uri := range []string{"main.m3u8", "sub.m3u8", "sound.m3u8"} {
		p.checkers[uri] = New()
		p.join("/hls/door/"+uri, p.checkers[uri])
	}
	return p
}

// load loads a playlist with parts that ends before a segment and reports where
// the others are.
func (p *trio) load(uri string, end uint64, target int, reports ...RenditionReport) {
	list := &Playlist{TargetDuration: target, PartTarget: time.Second, MediaSequence: end, Reports: reports}
	p.known[uri] = p.loaded("/hls/door/"+uri, list, p.last[uri], p.known[uri])
	p.last[uri] = list
}

func (p *trio) violations() string {
	var all []string
	for _, c := range p.checkers {
		all = append(all, c.Violations()...)
	}
	return strings.Join(all, "\n")
}

func TestEachRuleOfVariantsIsSeenWhenBroken(t *testing.T) {
	at := func(zero time.Duration, timeline uint64) Segment {
		return Segment{Entry: Entry{URI: "x", Timeline: timeline, ProgramDateTime: time.Unix(1_790_000_000, 0).Add(zero)}}
	}
	good := func(p *trio) {
		p.load("sub.m3u8", 100, 2)
		p.load("sound.m3u8", 300, 2)
		p.load("main.m3u8", 500, 2)
		p.load("main.m3u8", 501, 2, RenditionReport{"sub.m3u8", 100, 1}, RenditionReport{"sound.m3u8", 300, 1})
	}
	for _, c := range []struct {
		name, section string
		run           func(p *trio)
	}{
		{"all is well", "", func(p *trio) {
			p.media("main.m3u8", at(10*time.Second, 7), 10*time.Second)
			p.media("sub.m3u8", at(14*time.Second, 7), 13900*time.Millisecond)
			p.media("sub.m3u8", at(20*time.Second, 8), 5*time.Second)
		}},
		{"a report is missing", "6.2.5.3", func(p *trio) { p.load("main.m3u8", 502, 2, RenditionReport{"sub.m3u8", 100, 1}) }},
		{"a report of another camera's", "4.4.5.4", func(p *trio) {
			p.load("main.m3u8", 502, 2, RenditionReport{"sub.m3u8", 100, 1}, RenditionReport{"sound.m3u8", 300, 1}, RenditionReport{"yard.m3u8", 1, 1})
		}},
		{"a report of itself", "4.4.5.4", func(p *trio) {
			p.load("main.m3u8", 502, 2, RenditionReport{"sub.m3u8", 100, 1}, RenditionReport{"sound.m3u8", 300, 1}, RenditionReport{"main.m3u8", 502, 1})
		}},
		{"a report that is old", "4.4.5.4", func(p *trio) {
			p.load("main.m3u8", 502, 2, RenditionReport{"sub.m3u8", 98, 1}, RenditionReport{"sound.m3u8", 300, 1})
		}},
		{"a report of what cannot be", "4.4.5.4", func(p *trio) {
			p.load("main.m3u8", 502, 2, RenditionReport{"sub.m3u8", 150, 1}, RenditionReport{"sound.m3u8", 300, 1})
		}},
		{"times that do not match", "6.2.4", func(p *trio) {
			p.media("main.m3u8", at(10*time.Second, 7), 10*time.Second)
			p.media("sound.m3u8", at(10*time.Second, 7), 9*time.Second)
		}},
		{"another target duration", "6.2.4", func(p *trio) {
			p.load("main.m3u8", 502, 6, RenditionReport{"sub.m3u8", 100, 1}, RenditionReport{"sound.m3u8", 300, 1})
			time.Sleep(13 * time.Second)
			p.load("main.m3u8", 503, 6, RenditionReport{"sub.m3u8", 101, 1}, RenditionReport{"sound.m3u8", 301, 1})
			p.load("sub.m3u8", 101, 2)
		}},
		{"a longer target that nobody needs", "6.2.1", func(p *trio) { p.outgrown("sub.m3u8", 9) }},
		{"a longer target that another needs", "", func(p *trio) {
			p.load("main.m3u8", 502, 6, RenditionReport{"sub.m3u8", 100, 1}, RenditionReport{"sound.m3u8", 300, 1})
			p.outgrown("sub.m3u8", 6)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newTrio()
				good(p)
				c.run(p)
				p.end()
				got := p.violations()
				if c.section == "" && got != "" || !strings.Contains(got, c.section) {
					t.Errorf("found %q, want %s", got, c.section)
				}
			})
		})
	}
}

func TestATargetThatGrowsWithoutNeedIsAskedAbout(t *testing.T) {
	s := stream{first: 10, segments: 7, parts: 3}
	longer := strings.NewReplacer("TARGETDURATION:2", "TARGETDURATION:9", "HOLD-BACK=6", "HOLD-BACK=27", "CAN-SKIP-UNTIL=12", "CAN-SKIP-UNTIL=54")
	for _, c := range []struct {
		ask  bool
		want string
	}{{false, "6.2.1: target duration"}, {true, ""}} {
		checker := New()
		told := 0
		if c.ask {
			checker.Outgrown = func(target int) { told = target }
		}
		checker.Watch(s.load())
		checker.Watch([]byte(longer.Replace(string(s.load()))))
		all := strings.Join(checker.Violations(), "\n")
		if strings.Contains(all, "6.2.1: target duration") != (c.want != "") || c.ask && told != 9 {
			t.Errorf("told of %d, found %q", told, all)
		}
	}
}
