package media

import (
	"errors"
	"fmt"
)

// ErrFrameTooLarge is returned for a frame of more than MaxFrameBytes.
var ErrFrameTooLarge = fmt.Errorf("frame of more than %d MB", MaxFrameBytes>>20)

// errNoFrame is a mistake of the writer, not of its input.
var errNoFrame = errors.New("arena: no frame begun")

// Arena is where one track's frames are written, each byte once: a frame is
// begun, appended to as its payloads arrive, and finished. Frames lie side by
// side in blocks, as large as they are, so that a run of them is one extent of
// memory, and a segment of fifty frames a handful of them.
//
// An arena belongs to one goroutine.
type Arena struct {
	pool  *Pool
	block *block
	class int // of the next block
	used  int // bytes of block taken by finished frames
	end   int // bytes of block written, those of the frame being written included
	begun bool
}

// NewArena returns an arena whose blocks hold at least blockBytes, which should
// be about what the track brings in a second.
func NewArena(pool *Pool, blockBytes int) *Arena {
	class := classFor(blockBytes)
	if class < 0 {
		class = len(blockClasses) - 1
	}
	return &Arena{pool: pool, class: class}
}

// Begin starts a frame, and drops one that was begun and not finished.
func (a *Arena) Begin() {
	a.end = a.used
	a.begun = true
}

// Len returns how many bytes the frame being written has.
func (a *Arena) Len() int { return a.end - a.used }

// Append adds bytes to the frame being written. On an error the frame is as it
// was; ErrFrameTooLarge when it would outgrow MaxFrameBytes.
func (a *Arena) Append(data []byte) error {
	room, err := a.grow(len(data))
	if err != nil {
		return err
	}
	copy(room, data)
	return nil
}

// AppendLength adds a placeholder for the 4-byte length of a NAL unit and
// returns its offset in the frame, for SetLength.
func (a *Arena) AppendLength() (offset int, err error) {
	offset = a.Len()
	room, err := a.grow(4)
	if err != nil {
		return 0, err
	}
	clear(room)
	return offset, nil
}

// SetLength writes the number of bytes that follow the placeholder at offset.
func (a *Arena) SetLength(offset int) {
	n := a.Len() - offset - 4
	at := a.block.data[a.used+offset:]
	at[0], at[1], at[2], at[3] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
}

// Truncate cuts the frame being written back to n bytes.
func (a *Arena) Truncate(n int) {
	if n < 0 || n > a.Len() {
		panic("media: arena truncated beyond its frame")
	}
	a.end = a.used + n
}

// Bytes returns the frame being written, until the next call.
func (a *Arena) Bytes() []byte {
	if a.block == nil {
		return nil
	}
	return a.block.data[a.used:a.end:a.end]
}

// grow makes room for n more bytes of the frame being written.
func (a *Arena) grow(n int) ([]byte, error) {
	if !a.begun {
		return nil, errNoFrame
	}
	if a.Len()+n > MaxFrameBytes {
		return nil, ErrFrameTooLarge
	}
	if a.block == nil || a.end+n > len(a.block.data) {
		if err := a.move(n); err != nil {
			return nil, err
		}
	}
	room := a.block.data[a.end : a.end+n]
	a.end += n
	return room, nil
}

// move carries the frame being written over to a new block with room for n more
// bytes. It is the only second copy of a byte: of half a frame, once a block.
func (a *Arena) move(n int) error {
	written := a.Len()
	class := max(a.class, classFor(written+n))
	if a.block != nil && a.used == 0 && class < len(blockClasses)-1 {
		// This very frame filled a block from its start: the next class, so
		// that a large frame is moved a few times at most.
		class = max(class, a.block.class+1)
	}
	next, err := a.pool.take(class)
	if err != nil {
		return err
	}
	if a.block != nil {
		copy(next.data, a.block.data[a.used:a.end])
		a.block.release() // its finished frames hold it from here on
	}
	a.block, a.used, a.end = next, 0, written
	return nil
}

// Finish makes a frame of what was written and returns it with one reference,
// which is the caller's. All fields but the payload are for the caller to set,
// before anyone else sees the frame.
func (a *Arena) Finish() (*Frame, error) {
	if !a.begun {
		return nil, errNoFrame
	}
	if a.block == nil { // a frame of no bytes
		if err := a.move(0); err != nil {
			return nil, err
		}
	}
	f := a.pool.frames.Get().(*Frame)
	payload := a.block.data[a.used:a.end:a.end]
	*f = Frame{payload: payload, block: a.block}
	f.refs.Store(1)
	a.block.retain()
	a.pool.alive.Add(1)
	a.used = a.end
	a.begun = false
	return f, nil
}

// Close lets go of the arena's block. Frames made of it live on.
func (a *Arena) Close() {
	if a.block != nil {
		a.block.release()
		a.block = nil
	}
	a.used, a.end, a.begun = 0, 0, false
}
