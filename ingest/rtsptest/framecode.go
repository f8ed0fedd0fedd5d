package rtsptest

import "errors"

// The code in a clip's pictures (see make-clips.sh): a row of cells along the
// top edge.
const (
	codeCells      = 16
	codeBits       = 12
	codeHeightPart = 15 // the row is one part in so many of the picture's height
)

// ReadFrameCode returns the picture's number in its clip from the luma plane of
// a decoded picture.
func ReadFrameCode(luma []byte, width, height int) (int, error) {
	if width < codeCells || height < codeHeightPart || len(luma) < width*height {
		return 0, errors.New("frame code: the picture is too small")
	}
	y := height / codeHeightPart / 2
	cell := width / codeCells
	var white [codeCells]bool
	for i := range white {
		x := i*cell + cell/2
		switch brightness := luma[y*width+x]; {
		case brightness > 160:
			white[i] = true
		case brightness > 96:
			return 0, errors.New("frame code: a cell is neither black nor white")
		}
	}
	number, parity := 0, false
	for i := 2; i < 2+codeBits; i++ {
		number <<= 1
		if white[i] {
			number |= 1
			parity = !parity
		}
	}
	if !white[0] || white[1] || !white[codeCells-1] || white[codeCells-2] != parity {
		return 0, errors.New("frame code: there is none")
	}
	return number, nil
}
