// Package tap is the frames of a Drover's cameras, for workers written in Go: by gRPC
// from any machine, or in shared memory on the same one.
//
//	client, err := tap.Dial("127.0.0.1:9090") // or "unix:data/tap.sock"
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//	for frame, err := range client.Frames(ctx, tap.Request{Cameras: []string{"door"}}) {
//		if err != nil {
//			return err
//		}
//		look(frame.Config.Codec, frame.Data)
//	}
package tap

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/drover-video/drover/ai/schema"
)

// AllCameras asks for every camera, those that are added later too.
const AllCameras = "*"

// Request says which frames are wanted. Cameras is needed.
type Request struct {
	Cameras        []string      // ids, or AllCameras
	Source         string        // "main", "sub", …; "" or where there is none such: the first
	Keyframes      bool          // no others
	MaxFPS         float64       // of each camera; 0: no limit
	LengthPrefixed bool          // NAL units behind 4 bytes of length, not in Annex B
	Audio          bool          // sound too
	MaxBehind      time.Duration // how old what waits may grow; 0: 2 s
	Worker         string        // a name for the server's counters

	// Status is told of cameras that come and go, from within the loop over Frames. It
	// may be nil. Workers that share memory hear only of what changes.
	Status func(*schema.Status)

	// Lost is told why the connection was lost, before it is tried again. It may be nil.
	Lost func(error)
}

func (r *Request) message() *schema.WatchRequest {
	m := &schema.WatchRequest{
		Cameras: r.Cameras, Source: r.Source, MaxFps: r.MaxFPS, Audio: r.Audio,
		MaxBehindMs: uint32(min(max(r.MaxBehind, 0), time.Hour) / time.Millisecond), Worker: r.Worker,
	}
	if r.Keyframes {
		m.Selection = schema.Selection_SELECTION_KEYFRAMES
	}
	if r.LengthPrefixed {
		m.Format = schema.Format_FORMAT_LENGTH_PREFIXED
	}
	return m
}

// Frame is one access unit of a camera.
type Frame struct {
	Camera, Source  string
	Config          *schema.Config // what decoding it needs; the same pointer while it stays the same
	Sequence, Epoch uint64
	Keyframe        bool
	PTS, DTS        int64 // in ticks of 1/90000 s
	Wall            time.Time
	SenderReport    bool      // Wall is by the camera's clock, and not when the frame came
	Arrival         time.Time // when the server had it
	Missed          uint64    // frames asked for and not got since the one before
	Lost            uint32    // packets that the camera's network lost before it

	// Data is valid until the next frame.
	Data []byte
}

// Client is a connection to a Drover.
type Client struct {
	conn *grpc.ClientConn // nil: shared memory at path
	path string
}

// window is how much may be on its way to a client: more than a keyframe, and less than
// would be old when it came.
const window = 1 << 20

// Dial returns a client of the tap at an address: host:port for gRPC, or unix:path for
// the socket of shared memory, which only takes frames. Nothing is connected yet.
func Dial(target string, options ...grpc.DialOption) (*Client, error) {
	if path, ok := strings.CutPrefix(target, "unix:"); ok {
		return &Client{path: path}, nil
	}
	conn, err := grpc.NewClient(target, append([]grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(window),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
	}, options...)...)
	if err != nil {
		return nil, fmt.Errorf("tap: %w", err)
	}
	return &Client{conn: conn}, nil
}

// maxMessage is the largest frame that a server has, and what is said of it.
const maxMessage = 17 << 20

// Close ends the connection. Not within a loop over Frames.
func (c *Client) Close() error {
	if c.conn == nil {
		return nil
	}
	return c.conn.Close()
}

// errStopped is that whoever takes frames wants no more.
var errStopped = errors.New("stopped")

// Frames goes through frames for as long as the server has any, or until ctx ends. Where
// the connection is lost, or the server cannot take the worker now, it tries again for as
// long as it takes. An error that trying again does not mend comes last, with no frame:
// a camera that is unknown, or a request that makes no sense.
func (c *Client) Frames(ctx context.Context, request Request) iter.Seq2[*Frame, error] {
	return func(yield func(*Frame, error) bool) {
		wait := firstWait
		for {
			err := c.once(ctx, &request, func(f *Frame) error {
				wait = firstWait
				if !yield(f, nil) {
					return errStopped
				}
				return nil
			})
			switch {
			case errors.Is(err, errStopped):
				return
			case ctx.Err() != nil:
				yield(nil, ctx.Err())
				return
			case !passing(err):
				yield(nil, fmt.Errorf("tap: %w", err))
				return
			}
			if request.Lost != nil {
				request.Lost(err)
			}
			if !pause(ctx, wait) {
				yield(nil, ctx.Err())
				return
			}
			wait = min(2*wait, longestWait)
		}
	}
}

// How long it is waited before a connection is tried again.
const (
	firstWait   = 250 * time.Millisecond
	longestWait = 10 * time.Second
)

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// once takes frames over one connection. The error is never nil.
func (c *Client) once(ctx context.Context, request *Request, take func(*Frame) error) error {
	if c.conn == nil {
		return c.share(ctx, request, take)
	}
	return c.watch(ctx, request, take)
}

// Report tells the server what was seen in a frame. Not over shared memory.
func (c *Client) Report(ctx context.Context, seen *schema.Detections) error {
	if c.conn == nil {
		return errors.New("tap: reports go by gRPC: dial its address, too")
	}
	if _, err := schema.NewTapClient(c.conn).ReportOne(ctx, seen); err != nil {
		return fmt.Errorf("tap: %w", err)
	}
	return nil
}
