package home

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/drover-video/drover/archive/index"
)

// Found is what a look through the bucket found.
type Found struct {
	Objects int // below the prefix
	Known   int // of those that the index knows, by name and size
	Other   int // of which the index says another size
	Foreign int // that are none of Drover's, and are left alone
	Adopted int // that the index did not know and does now
	Files   int // of those
	Taken   int // files that cannot be adopted, since others that were recorded here have their numbers
	Missing int // verified ones that the bucket does not have
}

// Verify holds the bucket's list against the index and changes nothing.
func (h *Home) Verify(ctx context.Context) (Found, error) { return h.walk(ctx, false) }

// Restore puts into the index what lies in the bucket and the index does not know: it
// was lost, and was made anew of the files that were on the disk. Each such object
// costs one request or two.
func (h *Home) Restore(ctx context.Context) (Found, error) { return h.walk(ctx, true) }

func (h *Home) walk(ctx context.Context, adopt bool) (Found, error) {
	var found Found
	verified := int64(0)
	err := h.store.list(ctx, func(o listed) error {
		found.Objects++
		known, isVerified, err := h.index.Object(ctx, o.name)
		if isVerified {
			verified++
		}
		switch {
		case err != nil:
			return err
		case known != nil && known.Bytes == o.bytes:
			found.Known++
			return nil
		case known != nil:
			found.Other++
			return nil
		case !adopt:
			found.Foreign++
			return nil
		}
		return h.adopt(ctx, o, &found)
	})
	if err != nil {
		return found, err
	}
	stored, err := h.index.Stored(ctx)
	found.Missing = max(0, int(stored.Verified-verified)-found.Adopted)
	return found, err
}

// adopt puts an object into the index.
func (h *Home) adopt(ctx context.Context, o listed, found *Found) error {
	stream, files, parts, err := h.contentsOf(ctx, o)
	switch {
	case errors.Is(err, errContents):
		found.Foreign++
		return nil
	case err != nil:
		return err
	}
	if stream, err = h.index.Stream(ctx, stream.Camera, stream.Source); err != nil {
		return err
	}
	object := &index.Object{Stream: stream.ID, Name: o.name, Bytes: o.bytes, Parts: parts, From: files[0].Start, To: files[0].End()}
	for i := range files {
		files[i].Stream = stream.ID
		if files[i].Start.Before(object.From) {
			object.From = files[i].Start
		}
		if files[i].End().After(object.To) {
			object.To = files[i].End()
		}
	}
	n, taken, err := h.index.Adopt(ctx, object, files)
	if err != nil {
		return fmt.Errorf("adopt an object: %w", err)
	}
	found.Taken += taken
	if found.Files += n; n > 0 {
		found.Adopted++
	}
	return nil
}

// usualContents is how much of an object's end is read at first.
const usualContents = 64 << 10

// contentsOf reads what an object says of itself; errContents if it is none of Drover's.
func (h *Home) contentsOf(ctx context.Context, o listed) (index.Stream, []index.File, []index.Part, error) {
	fail := func(err error) (index.Stream, []index.File, []index.Part, error) {
		return index.Stream{}, nil, nil, err
	}
	if !strings.HasSuffix(o.name, ".mp4") || o.bytes < contentsHeader+contentsTrailer {
		return fail(errContents)
	}
	end, err := h.store.tail(ctx, o.name, o.bytes, usualContents)
	if err != nil {
		return fail(err)
	}
	size, err := contentsSize(end)
	if err != nil || size > o.bytes {
		return fail(errContents)
	}
	if size > int64(len(end)) {
		if end, err = h.store.tail(ctx, o.name, o.bytes, size); err != nil {
			return fail(err)
		}
	}
	stream, files, parts, err := parseContents(end[int64(len(end))-size:], o.bytes)
	if err != nil {
		return fail(err)
	}
	// The name must be the one that these files get, but for the checksum.
	want := objectName(stream, files, sum{})
	const unknown = len("0123456789abcdef.mp4")
	if len(o.name) != len(want) || o.name[:len(want)-unknown] != want[:len(want)-unknown] {
		return fail(errContents)
	}
	return stream, files, parts, nil
}
