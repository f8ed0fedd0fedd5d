package media

import "unsafe"

// AppendPayload appends a frame's payload to those of others that are sent or written
// one behind the other, as one piece with the last where they lie side by side in
// memory, as frames of one track do. All stay alive by their frames.
func AppendPayload(dst [][]byte, payload []byte) [][]byte {
	if len(payload) == 0 {
		return dst
	}
	if n := len(dst); n > 0 {
		if last := dst[n-1]; len(last) > 0 && address(last)+uintptr(len(last)) == address(payload) {
			dst[n-1] = unsafe.Slice(unsafe.SliceData(last), len(last)+len(payload))
			return dst
		}
	}
	return append(dst, payload)
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
