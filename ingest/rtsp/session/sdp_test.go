package session

import (
	"fmt"
	"sort"
	"strings"
	"testing"
)

// summary writes medias down in a line: kind/direction(format format).
func summary(medias []Media) string {
	var out []string
	for _, m := range medias {
		var formats []string
		for _, f := range m.Formats {
			text := fmt.Sprintf("%d=%s/%d", f.PayloadType, f.Encoding, f.ClockRate)
			if f.Channels > 0 {
				text += fmt.Sprintf("/%d", f.Channels)
			}
			var keys []string
			for k, v := range f.FMTP {
				keys = append(keys, k+":"+v)
			}
			sort.Strings(keys)
			if len(keys) > 0 {
				text += "{" + strings.Join(keys, ",") + "}"
			}
			formats = append(formats, text)
		}
		text := m.Kind
		if m.Direction != "" {
			text += "/" + m.Direction
		}
		out = append(out, fmt.Sprintf("%s(%s)", text, strings.Join(formats, " ")))
	}
	return strings.Join(out, " ")
}

const plain = "m=video 0 RTP/AVP 96\na=rtpmap:96 H264/90000\n"

func TestCaseSDPMalformedIsReadWithoutTheLinesThatAreWrong(t *testing.T) {
	const want = "video(96=H264/90000)"
	for name, sdp := range map[string]string{
		"all is well":               "v=0\r\no=- 1 1 IN IP4 1.2.3.4\r\ns=x\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n",
		"c without address":         "v=0\nc=IN \n" + plain,
		"c empty":                   "v=0\nc=\n" + plain,
		"o without address":         "v=0\no=- 1 1 IN\n" + plain,
		"o with decimals":           "v=0\no=- 1.5 2.5 IN IP4 x\n" + plain,
		"o negative":                "v=0\no=- -1 -1 IN IP4 x\n" + plain,
		"no s and no t":             "v=0\n" + plain,
		"r":                         "v=0\nr=0 0\n" + plain,
		"NUL at the end":            plain + "\x00",
		"NUL at the end of lines":   "m=video 0 RTP/AVP 96\x00\r\na=rtpmap:96 H264/90000\x00\r\n",
		"byte order mark":           "\ufeff" + plain,
		"carriage returns twice":    "m=video 0 RTP/AVP 96\r\r\na=rtpmap:96 H264/90000\r\r\n",
		"no version":                plain,
		"lines that are none":       "hello\n=\n\n" + plain + "a\na=\na=:\nb=AS:x\n",
		"port that is none":         "m=video port RTP/AVP 96\na=rtpmap:96 H264/90000\n",
		"lower case encoding":       "m=video 0 RTP/AVP 96\na=rtpmap:96 h264/90000\n",
		"blanks":                    "m = video  0  RTP/AVP  96 \na = rtpmap:96   H264 / 90000 \n",
		"no clock rate":             "m=video 0 RTP/AVP 96\na=rtpmap:96 H264\n",
		"clock rate that is none":   "m=video 0 RTP/AVP 96\na=rtpmap:96 H264/x\n",
		"rtpmap of another number":  "m=video 0 RTP/AVP 96\na=rtpmap:97 H264/90000\n",
		"last line without its end": "m=video 0 RTP/AVP 96\na=rtpmap:96 H264/90000",
	} {
		t.Run(name, func(t *testing.T) {
			if got := summary(parseSDP([]byte(sdp)).medias); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestABadLineAboutOneMediaNeverCostsAnother(t *testing.T) {
	for bad, want := range map[string]string{
		"m=":                                "()",
		"m=audio":                           "audio()",
		"m=audio 0":                         "audio()",
		"m=audio 0 RTP/AVP":                 "audio()",
		"m=audio 0 RTP/AVP x 300 -1":        "audio()",
		"m=audio 0 RTP/AVP 97\na=rtpmap:97": "audio(97=/0)",
		"m=audio 0 RTP/AVP 97\na=rtpmap:x y\na=fmtp:\na=fmtp:97": "audio(97=/0)",
		"m=audio 0 RTP/AVP 97\na=rtpmap:97 /":                    "audio(97=/0)",
		"m=audio 0 RTP/AVP 97\na=rtpmap:97 A/-1/-1":              "audio(97=A/8000/1)",
	} {
		got := summary(parseSDP([]byte(plain + bad + "\n" + plain)).medias)
		if want := "video(96=H264/90000) " + want + " video(96=H264/90000)"; got != want {
			t.Errorf("%q: got %s, want %s", bad, got, want)
		}
	}
}

func TestFormatsAreNamed(t *testing.T) {
	for sdp, want := range map[string]string{
		"m=audio 0 RTP/AVP 0 8 9":                              "audio(0=PCMU/8000/1 8=PCMA/8000/1 9=G722/8000/1)",
		"m=audio 0 RTP/AVP 10":                                 "audio(10=L16/44100/2)",
		"m=audio 0 RTP/AVP 8\na=rtpmap:8 PCMA/8000":            "audio(8=PCMA/8000/1)",
		"m=audio 0 RTP/AVP 8\na=rtpmap:8 PCMA/16000":           "audio(8=PCMA/16000/1)",
		"m=video 0 RTP/AVP 26":                                 "video(26=JPEG/90000)",
		"m=video 0 RTP/AVP 33":                                 "video(33=MP2T/90000)",
		"m=audio 0 RTP/AVP 97\na=rtpmap:97 opus/48000/2":       "audio(97=OPUS/48000/2)",
		"m=video 0 RTP/AVP 96\na=fmtp:96 packetization-mode=1": "video(96=H264/90000{packetization-mode:1})",
		"m=video 0 RTP/AVP 96\na=fmtp:96 sprop-vps=Q;x":        "video(96=H265/90000{sprop-vps:Q,x:})",
		"m=video 0 RTP/AVP 96\na=rtpmap:96 H264/90000\na=fmtp:96 Sprop-Parameter-Sets=Z0==,aM==;\na=fmtp:96 profile-level-id=\"42\"": "video(96=H264/90000{profile-level-id:42,sprop-parameter-sets:Z0==,aM==})",
	} {
		if got := summary(parseSDP([]byte(sdp)).medias); got != want {
			t.Errorf("%q: got %s, want %s", sdp, got, want)
		}
	}
}

func TestCaseAACConfigTakesTheParametersOfTheOnlyOtherNumber(t *testing.T) {
	for sdp, want := range map[string]string{
		"m=audio 0 RTP/AVP 104\na=rtpmap:104 mpeg4-generic/16000/1\na=fmtp:97 config=1408":                         "audio(104=MPEG4-GENERIC/16000/1{config:1408})",
		"m=audio 0 RTP/AVP 104 97\na=rtpmap:104 mpeg4-generic/16000/1\na=fmtp:97 config=1408":                      "audio(104=MPEG4-GENERIC/16000/1{config:1408} 97=/0{config:1408})",
		"m=audio 0 RTP/AVP 104\na=rtpmap:104 mpeg4-generic/16000/1\na=fmtp:104 config=1\na=fmtp:97 config=2":       "audio(104=MPEG4-GENERIC/16000/1{config:1})",
		"m=audio 0 RTP/AVP 104\na=rtpmap:104 mpeg4-generic/16000/1\na=fmtp:98 config=1\na=fmtp:97 config=2":        "audio(104=MPEG4-GENERIC/16000/1)",
		"m=audio 0 RTP/AVP 0 104\na=rtpmap:104 mpeg4-generic/16000/1\na=fmtp:0 x=2":                                "audio(0=PCMU/8000/1{x:2} 104=MPEG4-GENERIC/16000/1)",
		"m=audio 0 RTP/AVP 104\na=rtpmap:104 mpeg4-generic/16000/1\nm=video 0 RTP/AVP 96\na=fmtp:97 config=1408\n": "audio(104=MPEG4-GENERIC/16000/1) video(96=/0{config:1408})",
	} {
		if got := summary(parseSDP([]byte(sdp)).medias); got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", sdp, got, want)
		}
	}
}

func TestCaseOddMediaIsShownButNotPlayed(t *testing.T) {
	medias := parseSDP([]byte("m=meta 0 RTP/AVP 98\nm=vzinfo\n" + plain +
		"m=application 0 RTP/AVP 107\na=rtpmap:107 VND.ONVIF.METADATA/90000\n" +
		"m=application 9 VENDOR x\nm=audio 0 RTP/SAVP 8\nm=video 0 RTP/AVP 33\n")).medias
	if got, want := len(medias), 7; got != want {
		t.Fatalf("%d medias, want %d", got, want)
	}
	want := "video(96=H264/90000) application(107=VND.ONVIF.METADATA/90000) video(33=MP2T/90000)"
	got := Playable(medias)
	if summary(got) != want {
		t.Errorf("playable: %s, want %s", summary(got), want)
	}
	if got[0].Index != 2 {
		t.Errorf("the video has index %d, want 2", got[0].Index)
	}
}

func TestCaseBackchannelIsNotPlayedUnlessAllAreSendonly(t *testing.T) {
	const video, audio = "m=video 0 RTP/AVP 96\n", "m=audio 0 RTP/AVP 8\n"
	for _, c := range []struct{ sdp, want string }{
		{video + audio + "a=sendonly\n", "video"},
		{video + "a=recvonly\n" + audio + "a=recvonly\n" + audio + "a=sendonly\n", "video audio"},
		{video + "a=sendonly\n" + audio + "a=sendonly\n", "video audio"},
		{"a=sendonly\n" + video + audio, "video audio"},
		{"a=sendonly\n" + video + "a=recvonly\n" + audio, "video"},
		{video + "a=sendonly\n" + audio, "video audio"},
		{audio + "a=sendonly\n", "audio"},
		{video + audio + "a=sendrecv\n", "video audio"},
	} {
		var kinds []string
		for _, m := range Playable(parseSDP([]byte(c.sdp)).medias) {
			kinds = append(kinds, m.Kind)
		}
		if got := strings.Join(kinds, " "); got != c.want {
			t.Errorf("%q: %s is playable, want %s", c.sdp, got, c.want)
		}
	}
}

func TestADescriptionIsBounded(t *testing.T) {
	if got := len(parseSDP([]byte(strings.Repeat(plain, 100))).medias); got != maxMedias {
		t.Errorf("%d medias, want %d", got, maxMedias)
	}
	medias := parseSDP([]byte("m=video 0 RTP/AVP " + strings.Repeat("96 ", 1000))).medias
	if got := len(medias[0].Formats); got != maxFormats {
		t.Errorf("%d formats, want %d", got, maxFormats)
	}
}

func FuzzSDP(f *testing.F) {
	f.Add([]byte(bothSDP))
	f.Add([]byte("m=audio 0 RTP/AVP 104\na=rtpmap:104 mpeg4-generic/16000/1\na=fmtp:97 config=1408"))
	f.Add([]byte("a=sendonly\nm=\na=control:*\na=fmtp:96 ;;=;a=b=c"))
	f.Fuzz(func(t *testing.T, body []byte) {
		d := parseSDP(body)
		if len(d.medias) > maxMedias {
			t.Fatalf("%d medias", len(d.medias))
		}
		base, err := parseTarget("rtsp://192.0.2.1/live")
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range d.medias {
			if m.Index != i {
				t.Errorf("media %d has index %d", i, m.Index)
			}
			for _, f := range m.Formats {
				if f.FMTP == nil {
					t.Error("a format has no parameters")
				}
			}
			if uri := base.resolve(m.Control); uri.host != base.host || strings.ContainsAny(uri.String(), " \r\n") {
				t.Errorf("control leads to %q", uri)
			}
		}
		Playable(d.medias)
	})
}
