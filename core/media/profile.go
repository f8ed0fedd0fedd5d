package media

import "fmt"

// Profile returns the profile and level that the parameters announce, as people
// write them: "High 4.1", "Main 5.0", "AAC-LC"; "" where they do not say.
func (p *Params) Profile() string {
	switch p.Codec {
	case CodecH264:
		return h264Profile(p.SPS)
	case CodecH265:
		return h265Profile(p.SPS)
	case CodecAAC:
		return aacProfile(p.AudioConfig)
	}
	return ""
}

// h264Profile reads profile_idc, the constraint flags and level_idc, which begin
// an SPS (H.264 7.3.2.1.1), none of them behind an emulation byte.
func h264Profile(sps []byte) string {
	if len(sps) < 4 {
		return ""
	}
	constrained := sps[2]&0x40 != 0
	name := map[byte]string{66: "Baseline", 77: "Main", 88: "Extended", 100: "High", 110: "High 10", 122: "High 4:2:2", 244: "High 4:4:4"}[sps[1]]
	switch {
	case name == "":
		name = fmt.Sprintf("profile %d", sps[1])
	case sps[1] == 66 && constrained:
		name = "Constrained Baseline"
	}
	return fmt.Sprintf("%s %d.%d", name, sps[3]/10, sps[3]%10)
}

// h265Profile reads profile_tier_level (H.265 7.3.3), which begins in the fourth
// byte of an SPS.
func h265Profile(sps []byte) string {
	const profileAt, levelAt = 3, 14
	raw := unescape(sps, levelAt+1)
	if len(raw) <= levelAt {
		return ""
	}
	profile, tier := raw[profileAt]&0x1f, ""
	name := map[byte]string{1: "Main", 2: "Main 10", 3: "Main Still Picture", 4: "Range Extensions"}[profile]
	if name == "" {
		name = fmt.Sprintf("profile %d", profile)
	}
	if raw[profileAt]&0x20 != 0 {
		tier = " High tier"
	}
	return fmt.Sprintf("%s %d.%d%s", name, raw[levelAt]/30, raw[levelAt]%30/3, tier)
}

// unescape takes emulation prevention bytes out (H.265 7.3.1.1), until it has n
// bytes.
func unescape(nal []byte, n int) []byte {
	out := make([]byte, 0, n)
	zeros := 0
	for _, b := range nal {
		if len(out) == n {
			break
		}
		if zeros >= 2 && b == 3 {
			zeros = 0
			continue
		}
		if b == 0 {
			zeros++
		} else {
			zeros = 0
		}
		out = append(out, b)
	}
	return out
}

// aacProfile reads audioObjectType (ISO 14496-3 1.6.2.1).
func aacProfile(config []byte) string {
	if len(config) == 0 {
		return ""
	}
	switch kind := config[0] >> 3; kind {
	case 1:
		return "AAC Main"
	case 2:
		return "AAC-LC"
	case 5:
		return "HE-AAC"
	case 29:
		return "HE-AAC v2"
	case 31:
		return "" // an extended type, which no camera is known to send
	default:
		return fmt.Sprintf("AAC object type %d", kind)
	}
}
