package conform

import (
	"fmt"
	"strconv"
	"strings"
)

// Multivariant is a multivariant playlist as a player reads it.
type Multivariant struct {
	Version     int
	Independent bool // EXT-X-INDEPENDENT-SEGMENTS
	Variants    []Variant
	Audio       []Rendition
	Text        []Rendition
}

// Variant is EXT-X-STREAM-INF.
type Variant struct {
	URI                string
	Bandwidth, Average int64 // bits per second; Average 0: not said
	Codecs             []string
	Width, Height      int // 0: not said
	FrameRate          float64
	Audio              string // group; "": none
	Text               string // group; "": none
}

// Rendition is EXT-X-MEDIA of sound or text.
type Rendition struct {
	Group, Name, URI string // URI "": it is in the variants' segments
}

// ParseMultivariant reads a multivariant playlist, and holds it against the rules
// that need nothing else.
func ParseMultivariant(data []byte) (*Multivariant, error) {
	lines := strings.Split(string(data), "\n")
	if lines[0] != "#EXTM3U" {
		return nil, fmt.Errorf("4.3.1.1: the first line is %q", lines[0])
	}
	if lines[len(lines)-1] != "" {
		return nil, fmt.Errorf("4.1: the last line has no end")
	}
	m := &Multivariant{}
	var pending *Variant
	for _, line := range lines[1 : len(lines)-1] {
		if pending != nil {
			if line == "" || strings.HasPrefix(line, "#") {
				return nil, fmt.Errorf("4.3.4.2: %q stands where a variant's URI should", line)
			}
			pending.URI = line
			m.Variants = append(m.Variants, *pending)
			pending = nil
			continue
		}
		var err error
		tag, value, _ := strings.Cut(line, ":")
		switch tag {
		case "#EXT-X-VERSION":
			m.Version, err = strconv.Atoi(value)
		case "#EXT-X-INDEPENDENT-SEGMENTS":
			m.Independent = true
		case "#EXT-X-STREAM-INF":
			pending, err = parseVariant(value)
		case "#EXT-X-MEDIA":
			err = m.media(value)
		default:
			err = fmt.Errorf("unexpected")
		}
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
	}
	if pending != nil {
		return nil, fmt.Errorf("4.3.4.2: the last variant has no URI")
	}
	return m, m.check()
}

func parseVariant(list string) (*Variant, error) {
	a, err := attributes(list)
	if err != nil {
		return nil, err
	}
	v := &Variant{}
	for name, value := range a {
		switch name {
		case "BANDWIDTH":
			v.Bandwidth, err = strconv.ParseInt(value, 10, 62)
		case "AVERAGE-BANDWIDTH":
			v.Average, err = strconv.ParseInt(value, 10, 62)
		case "CODECS":
			var codecs string
			codecs, err = quoted(value)
			v.Codecs = strings.Split(codecs, ",")
		case "RESOLUTION":
			width, height, _ := strings.Cut(value, "x")
			if v.Width, err = strconv.Atoi(width); err == nil {
				v.Height, err = strconv.Atoi(height)
			}
		case "FRAME-RATE":
			v.FrameRate, err = strconv.ParseFloat(value, 64)
		case "AUDIO":
			v.Audio, err = quoted(value)
		case "SUBTITLES":
			v.Text, err = quoted(value)
		default:
			err = fmt.Errorf("unexpected")
		}
		if err != nil {
			return nil, fmt.Errorf("4.3.4.2: %s: %w", name, err)
		}
	}
	return v, nil
}

func (m *Multivariant) media(list string) error {
	a, err := attributes(list)
	if err != nil {
		return err
	}
	if a["TYPE"] != "AUDIO" && a["TYPE"] != "SUBTITLES" {
		return fmt.Errorf("4.3.4.1: a rendition of type %q", a["TYPE"])
	}
	if a["DEFAULT"] == "YES" && a["AUTOSELECT"] != "YES" {
		return fmt.Errorf("4.3.4.1: DEFAULT without AUTOSELECT")
	}
	var r Rendition
	for name, field := range map[string]*string{"GROUP-ID": &r.Group, "NAME": &r.Name} {
		if *field, err = quoted(a[name]); err != nil {
			return fmt.Errorf("4.3.4.1: %s: %w", name, err)
		}
	}
	if uri, there := a["URI"]; there {
		if r.URI, err = quoted(uri); err != nil {
			return err
		}
	}
	if a["TYPE"] == "AUDIO" {
		m.Audio = append(m.Audio, r)
		return nil
	}
	if r.URI == "" {
		return fmt.Errorf("4.3.4.1: text without a URI")
	}
	m.Text = append(m.Text, r)
	return nil
}

// check holds the entries against each other.
func (m *Multivariant) check() error {
	if len(m.Variants) == 0 {
		return fmt.Errorf("4.3.4.2: there is no variant")
	}
	groups, texts := map[string]bool{}, map[string]bool{}
	for _, r := range m.Text {
		texts[r.Group] = true
	}
	for i, r := range m.Audio {
		groups[r.Group] = true
		for _, other := range m.Audio[:i] {
			if other.Group == r.Group && other.Name == r.Name {
				return fmt.Errorf("4.3.4.1.1: two renditions of group %q are called %q", r.Group, r.Name)
			}
		}
	}
	for _, v := range m.Variants {
		switch {
		case v.Bandwidth <= 0:
			return fmt.Errorf("4.3.4.2: variant %s has no BANDWIDTH", v.URI)
		case v.Average > v.Bandwidth:
			return fmt.Errorf("4.3.4.2: variant %s has an AVERAGE-BANDWIDTH of %d above its BANDWIDTH of %d", v.URI, v.Average, v.Bandwidth)
		case len(v.Codecs) == 0:
			return fmt.Errorf("4.3.4.2: variant %s has no CODECS", v.URI)
		case v.Audio != "" && !groups[v.Audio]:
			return fmt.Errorf("4.3.4.2: variant %s has its sound in group %q, which is not there", v.URI, v.Audio)
		case v.Text != "" && !texts[v.Text]:
			return fmt.Errorf("4.3.4.2: variant %s has its text in group %q, which is not there", v.URI, v.Text)
		case v.Audio != "" && len(v.Codecs) < 2 && v.Height > 0:
			return fmt.Errorf("4.3.4.2: variant %s has sound in a group, and CODECS do not name it", v.URI)
		}
	}
	return nil
}

// uris are those of all media playlists.
func (m *Multivariant) uris() (uris []string) {
	for _, v := range m.Variants {
		uris = append(uris, v.URI)
	}
	for _, r := range m.Audio {
		if r.URI != "" {
			uris = append(uris, r.URI)
		}
	}
	return uris
}
