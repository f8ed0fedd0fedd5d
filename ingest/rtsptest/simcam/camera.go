package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/drover-video/drover/ingest/rtsptest"
)

// setter sets what a KEY=VALUE of -camera says.
type setter func(c *rtsptest.CameraConfig, value string) error

func cameraSetters() map[string]setter {
	return map[string]setter{
		"clip":       func(c *rtsptest.CameraConfig, v string) error { c.Clip = v; return nil },
		"audio":      setAudio,
		"start":      setStart,
		"auth":       setAuth,
		"user":       func(c *rtsptest.CameraConfig, v string) error { c.User = v; return nil },
		"password":   func(c *rtsptest.CameraConfig, v string) error { c.Password = v; return nil },
		"transport":  setTransport,
		"sdp":        setSDP,
		"answer":     setAnswer,
		"status":     setStatus,
		"redirect":   func(c *rtsptest.CameraConfig, v string) error { c.Redirect = v; return nil },
		"timeout":    setTimeout,
		"packet":     setPacket,
		"once":       setOnce,
		"stall":      faultAfter(rtsptest.Stall()),
		"stallvideo": faultAfter(rtsptest.StallVideo()),
		"close":      faultAfter(rtsptest.Close()),
		"reset":      faultAfter(rtsptest.Reset()),
		"bye":        faultAfter(rtsptest.Bye()),
		"change":     setChange,
		"drop":       setDrop,
	}
}

func cameraKeys() []string { return slices.Sorted(maps.Keys(cameraSetters())) }

// setCamera reads PATH[:KEY=VALUE,...] into config.
func setCamera(config *rtsptest.CameraConfig, spec, audio, start string) error {
	path, rest, _ := strings.Cut(spec, ":")
	config.Path = path
	if err := setAudio(config, audio); err != nil {
		return err
	}
	if err := setStart(config, start); err != nil {
		return err
	}
	setters := cameraSetters()
	for pair := range strings.SplitSeq(rest, ",") {
		if pair == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		set := setters[key]
		if set == nil {
			return fmt.Errorf("unknown key %q; there are: %s", key, strings.Join(cameraKeys(), ", "))
		}
		if err := set(config, value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

func setAudio(c *rtsptest.CameraConfig, value string) error {
	c.AAC, c.PCMA, c.Sound = false, false, rtsptest.NoSound
	switch value {
	case "", "none":
	case "aac":
		c.AAC = true
	case "pcma":
		c.PCMA = true
	default:
		for _, sound := range rtsptest.Sounds() {
			if strings.EqualFold(value, string(sound)) {
				c.Sound = sound
				return nil
			}
		}
		return fmt.Errorf("%q is not aac, pcma, pcmu, g722, l16, opus, latm or none", value)
	}
	return nil
}

func setStart(c *rtsptest.CameraConfig, value string) error {
	switch value {
	case "keyframe":
		c.Start = rtsptest.StartKeyframe
	case "next", "any":
		c.Start = rtsptest.StartAt(value)
	default:
		return fmt.Errorf("%q is not keyframe, next or any", value)
	}
	return nil
}

func setAuth(c *rtsptest.CameraConfig, value string) error {
	switch value {
	case "none":
		c.Auth = rtsptest.AuthNone
	case "basic", "digest":
		c.Auth = rtsptest.Auth(value)
	default:
		return fmt.Errorf("%q is not basic, digest or none", value)
	}
	return nil
}

func setTransport(c *rtsptest.CameraConfig, value string) error {
	switch value {
	case "both":
		c.Transport = rtsptest.TransportBoth
	case "tcp", "udp", "multicast", "tunnel":
		c.Transport = rtsptest.Transport(value)
	default:
		return fmt.Errorf("%q is not tcp, udp, multicast, tunnel or both", value)
	}
	return nil
}

func setSDP(c *rtsptest.CameraConfig, value string) error {
	switch value {
	case "full", "bare":
		c.BareSDP = value == "bare"
	default:
		return fmt.Errorf("%q is not full or bare", value)
	}
	return nil
}

func setAnswer(c *rtsptest.CameraConfig, value string) error {
	switch value {
	case "never", "nonsense":
		c.Answer = rtsptest.Answer(value)
	default:
		return fmt.Errorf("%q is not never or nonsense", value)
	}
	return nil
}

// setStatus reads METHOD@STATUS.
func setStatus(c *rtsptest.CameraConfig, value string) error {
	method, status, _ := strings.Cut(value, "@")
	code, err := strconv.Atoi(status)
	if err != nil {
		return err
	}
	if c.Status == nil {
		c.Status = map[string]int{}
	}
	c.Status[method] = code
	return nil
}

func setTimeout(c *rtsptest.CameraConfig, value string) (err error) {
	c.SessionTimeout, err = seconds(value)
	return err
}

func setPacket(c *rtsptest.CameraConfig, value string) (err error) {
	c.PacketSize, err = strconv.Atoi(value)
	return err
}

// setOnce lets the faults before it in the list happen to the first client only.
func setOnce(c *rtsptest.CameraConfig, _ string) error {
	for i := range c.Faults {
		c.Faults[i].Once = true
	}
	return nil
}

func faultAfter(action rtsptest.Action) setter {
	return func(c *rtsptest.CameraConfig, value string) error {
		after, err := seconds(value)
		if err != nil {
			return err
		}
		c.Faults = append(c.Faults, rtsptest.Fault{After: after, Do: action})
		return nil
	}
}

// setChange reads CLIP@SECONDS.
func setChange(c *rtsptest.CameraConfig, value string) error {
	clip, after, _ := strings.Cut(value, "@")
	return faultAfter(rtsptest.Change(clip))(c, after)
}

// setDrop reads PERCENT, from the start.
func setDrop(c *rtsptest.CameraConfig, value string) error {
	percent, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return err
	}
	c.Faults = append(c.Faults, rtsptest.Fault{Do: rtsptest.DropPercent(percent)})
	return nil
}
