package rtsptest

import "errors"

// splitADTS returns the frames of an ADTS stream without their headers, and the
// AudioSpecificConfig that the first header amounts to.
func splitADTS(stream []byte) (config []byte, frames [][]byte, err error) {
	for len(stream) > 0 {
		// ISO 14496-3 1.A.2.2.
		if len(stream) < 7 || stream[0] != 0xFF || stream[1]&0xF6 != 0xF0 {
			return nil, nil, errors.New("not ADTS")
		}
		header := 7
		if stream[1]&1 == 0 {
			header = 9 // with a checksum
		}
		size := int(stream[3]&0x03)<<11 | int(stream[4])<<3 | int(stream[5])>>5
		if size < header || size > len(stream) {
			return nil, nil, errors.New("frame is cut short")
		}
		if config == nil {
			object := stream[2]>>6 + 1
			rate := stream[2] >> 2 & 0x0F
			channels := stream[2]&1<<2 | stream[3]>>6
			config = []byte{object<<3 | rate>>1, rate<<7 | channels<<3}
		}
		frames = append(frames, stream[header:size:size])
		stream = stream[size:]
	}
	return config, frames, nil
}
