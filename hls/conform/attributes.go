package conform

import (
	"fmt"
	"strconv"
	"strings"
)

// attributes reads an attribute list (RFC 8216bis 4.2).
func attributes(list string) (map[string]string, error) {
	all := map[string]string{}
	for list != "" {
		name, rest, ok := strings.Cut(list, "=")
		if !ok || name == "" || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
			return nil, fmt.Errorf("4.2: %q is not an attribute", list)
		}
		if _, twice := all[name]; twice {
			return nil, fmt.Errorf("4.2: attribute %s is there twice", name)
		}
		var value string
		if strings.HasPrefix(rest, `"`) {
			end := strings.IndexByte(rest[1:], '"')
			if end < 0 {
				return nil, fmt.Errorf("4.2: attribute %s has no closing quote", name)
			}
			value, rest = rest[:end+2], rest[end+2:]
			if rest != "" && rest[0] != ',' {
				return nil, fmt.Errorf("4.2: %q behind attribute %s", rest, name)
			}
			list = strings.TrimPrefix(rest, ",")
		} else {
			value, list, _ = strings.Cut(rest, ",")
		}
		all[name] = value
	}
	return all, nil
}

// quoted returns a quoted string without its quotes.
func quoted(value string) (string, error) {
	inner, opened := strings.CutPrefix(value, `"`)
	inner, closed := strings.CutSuffix(inner, `"`)
	if !opened || !closed || inner == "" {
		return "", fmt.Errorf("4.2: %s is not a quoted string with something in it", value)
	}
	return inner, nil
}

func (p *parser) lowLatencyTag(tag, list string) error {
	a, err := attributes(list)
	if err != nil {
		return err
	}
	switch tag {
	case "#EXT-X-SERVER-CONTROL":
		return p.control(a)
	case "#EXT-X-PART-INF":
		if p.PartTarget != 0 {
			return fmt.Errorf("4.4.3: EXT-X-PART-INF is there twice")
		}
		p.PartTarget, err = seconds(a["PART-TARGET"])
	case "#EXT-X-PART":
		part := Part{Independent: a["INDEPENDENT"] == "YES"}
		if part.URI, err = quoted(a["URI"]); err != nil {
			return err
		}
		part.Duration, err = seconds(a["DURATION"])
		p.next.Parts = append(p.next.Parts, part)
	case "#EXT-X-PRELOAD-HINT":
		if a["TYPE"] != "PART" {
			return fmt.Errorf("4.4.5.3: a hint of type %q", a["TYPE"])
		}
		p.hints++
		p.Hint, err = quoted(a["URI"])
	case "#EXT-X-SKIP":
		if p.Skipped != 0 || len(p.Segments) > 0 || len(p.next.Parts) > 0 {
			return fmt.Errorf("4.4.5.2: EXT-X-SKIP is there twice, or behind a segment")
		}
		p.Skipped, err = strconv.Atoi(a["SKIPPED-SEGMENTS"])
		if err == nil && (p.Skipped < 1 || p.Skipped > 1e6) {
			err = fmt.Errorf("4.4.5.2: so many are not skipped")
		}
	default:
		return p.report(a)
	}
	return err
}

func (p *parser) control(a map[string]string) (err error) {
	if p.Control != nil {
		return fmt.Errorf("4.4.3: EXT-X-SERVER-CONTROL is there twice")
	}
	c := &Control{CanBlockReload: a["CAN-BLOCK-RELOAD"] == "YES"}
	p.Control = c
	for name, value := range a {
		switch name {
		case "CAN-BLOCK-RELOAD":
		case "PART-HOLD-BACK":
			c.PartHoldBack, err = seconds(value)
		case "HOLD-BACK":
			c.HoldBack, err = seconds(value)
		case "CAN-SKIP-UNTIL":
			c.CanSkipUntil, err = seconds(value)
		default:
			err = fmt.Errorf("4.4.3.8: unexpected attribute %s", name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) report(a map[string]string) (err error) {
	r := RenditionReport{LastPart: -1}
	if r.URI, err = quoted(a["URI"]); err != nil {
		return err
	}
	if r.LastMSN, err = strconv.ParseUint(a["LAST-MSN"], 10, 63); err != nil {
		return fmt.Errorf("4.4.5.4: LAST-MSN: %w", err)
	}
	if part, there := a["LAST-PART"]; there {
		if r.LastPart, err = strconv.Atoi(part); err != nil || r.LastPart < 0 {
			return fmt.Errorf("4.4.5.4: LAST-PART %q", part)
		}
	}
	p.Reports = append(p.Reports, r)
	return nil
}
