// Package config reads what the operator says: flags over DROVER_… environment
// over the YAML file over defaults. It is strict: a key that nothing reads is
// an error with its line and the likeliest right name, and all errors are
// reported at once. It is the only importer of viper.
package config

import (
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/secret"
)

// Config is everything that can be set, checked and complete.
type Config struct {
	HTTP    HTTP
	Data    Data
	Log     Log
	Auth    Auth
	HLS     HLS
	Ring    Ring
	Archive Archive
	Ingest  Ingest
	GRPC    GRPC
	AI      AI

	// Cameras of the file, normalized, in its order, with Origin camera.OriginFile.
	Cameras []camera.Spec
}

// HTTP is the one listener for web app, API, HLS and metrics.
type HTTP struct {
	Address           string        // host:port
	ReadHeaderTimeout time.Duration // from the first byte of a request to the end of its header
	WriteTimeout      time.Duration // an answer that takes no byte for so long is cut off
	IdleTimeout       time.Duration // of a kept connection between two requests
	MaxHeaderBytes    int
	ShutdownGrace     time.Duration // for answers under way when the server stops
	CongestionControl string        // of connections; "": the system's

	MaxConnections           int // 0: no limit
	MaxConnectionsPerAddress int // 0: no limit

	// AllowedHosts are names that requests for the API may come by besides those
	// of this machine, while there is no login and auth.mode does not say so.
	AllowedHosts []string

	TLS  TLS
	ACME ACME
}

// TLS is a certificate from files. Without one, and without ACME, HTTP is plain.
type TLS struct {
	Cert string // PEM file of the certificate and those between it and its authority; "" for none
	Key  string // PEM file of its key
}

// ACME is how a certificate is had from an authority that hands them out, such as
// Let's Encrypt.
type ACME struct {
	Domains   []string // none: no ACME
	Email     string   // where the authority writes to; may be empty
	Directory string   // URL of the authority
}

// Data is where Drover keeps what must survive a restart.
type Data struct {
	Dir string
}

// Log is what is logged to standard error, and how.
type Log struct {
	Level  string // debug, info, warn, error
	Format string // text, json
}

// Auth is who may come in.
type Auth struct {
	Mode string // "": no login, on loopback only; "none": no login anywhere
}

// HLS is the shape of the live window.
type HLS struct {
	SegmentDuration time.Duration // the least; segments are cut at keyframes only
	Window          int           // segments in the playlist
	OnDemand        bool          // made only while somebody watches
	PartDuration    time.Duration // of low-latency HLS, about: parts are whole frames
	KernelBytes     int64         // most memory for what many ask for, which the kernel sends; 0: none

	// What may be served at once; 0: no limit.
	MaxViewers       int
	MaxCameraViewers int
	MaxBitrate       int64 // bits per second
	MaxCameraBitrate int64
}

// Ring bounds what is kept of each source for consumers that start or lag.
type Ring struct {
	MaxDuration      time.Duration
	MaxBytes         int64
	SubscriberFrames int // that may wait for one subscriber
}

// Archive is where recordings are, and how they get there.
type Archive struct {
	Dir          string        // "": archive below data.dir
	WriteBuffer  int64         // most bytes that wait to be written to disk
	SyncInterval time.Duration // how long what was written may not be on disk

	// MinFree is kept free on the disk: see ParseShare. "": as is sensible.
	MinFree   string
	TimeShift time.Duration // how far the playlist without a range reaches back

	SecondHome SecondHome
}

// SecondHome is the bucket that recordings are copied to. Without Bucket there is none.
type SecondHome struct {
	Endpoint     string // URL of the store; "": AWS
	Region       string
	Bucket       string
	Prefix       string // of all names; "" or ending in a slash
	AccessKey    string
	SecretKey    secret.String
	PathStyle    bool   // the bucket is part of the path, not of the host's name
	StorageClass string // "": the bucket's own

	ObjectMinutes int // whose files become one object
	ObjectBytes   int64
	Verify        string // sent, head, read
	Bandwidth     int64  // most bits per second sent; 0: no limit
	Uploads       int    // at once
	Reads         int    // at once

	MaxAge          time.Duration // of what is there; 0: no limit
	MaxBytes        int64         // 0: no limit
	KeepUntilCopied bool          // by age and size, only what has a copy is deleted on the disk
	Redirect        bool          // players read from the store
}

// Ingest is how cameras are pulled.
type Ingest struct {
	DialLimit    int // simultaneous connection attempts
	BackoffMin   time.Duration
	BackoffMax   time.Duration
	StallTimeout time.Duration // without an access unit
	AudioFLAC    bool          // G.711, G.722 and L16 become FLAC; else they are left out
	IdleAfter    time.Duration // how long an on-demand camera is pulled after the last request
}

// GRPC is the listener of the tap for AI workers.
type GRPC struct {
	Address string // host:port; "": none
}

// DefaultGRPCAddress is taken where it is free: others like that port, too.
const DefaultGRPCAddress = "127.0.0.1:9090"

// AI bounds what workers may have of the tap, and says where those on this machine
// find it.
type AI struct {
	MaxWorkers int    // at once
	Socket     string // "": tap.sock below data.dir; "none": no shared memory

	SharedBytes int64 // of media in one memory that is shared
	SharedSets  int   // memories at once, one for each way in which workers ask

	DetectionsMaxAge  time.Duration // of what workers saw
	DetectionsMaxRows int
	EventsMaxAge      time.Duration // of what rules found in it
}
