package home

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/event"
	"github.com/drover-video/drover/core/secret"
)

// Verify says how sure it must be that an object has arrived.
type Verify string

// The ways to verify. In each the store is told size and SHA-256 of what it is sent,
// and refuses what does not match.
const (
	VerifySent Verify = "sent" // nothing more
	VerifyHead Verify = "head" // it is asked for size and checksum of what it has
	VerifyRead Verify = "read" // all is read back and compared
)

// Options of a second home. Dir, Index, Bucket, AccessKey and SecretKey are needed.
type Options struct {
	Dir   string // the archive's directory
	Index *index.Index

	Endpoint     string // URL of the store; "": AWS of the region
	Region       string // default us-east-1
	Bucket       string
	Prefix       string // of all names, "" or ending in a slash
	AccessKey    string
	SecretKey    secret.String
	VirtualHost  bool   // the bucket is part of the host's name, not of the path
	StorageClass string // "": the bucket's own

	ObjectTime  time.Duration // whose files become one object; default 10 minutes
	ObjectBytes int64         // an object has no more, unless one file alone has; default 256 MiB
	Verify      Verify        // default VerifyHead
	Bandwidth   int64         // most bytes per second sent; 0: no limit
	Uploads     int           // at once; default 2
	Reads       int           // at once; default 16
	Redirect    bool          // players are sent to the store

	MaxAge   time.Duration // objects are deleted whose footage is older; 0: none
	MaxBytes int64         // the oldest are deleted when there is more; 0: no limit

	Log   *slog.Logger
	Now   func() time.Time
	Event func(event.Event) // told what an operator may act on; must not wait

	// How long to wait. The defaults are for use; tests are in a hurry.
	Grace      time.Duration // for the last file of an object to be finished; default 2 minutes
	Poll       time.Duration // between two looks for what is finished; default 15 seconds
	BackoffMin time.Duration // before a store that fails is tried again; default 1 second
	BackoffMax time.Duration // default 5 minutes
	Stall      time.Duration // a request that moves no byte for so long has failed; default 30 seconds
	Sweep      time.Duration // between two looks for what is to be deleted; default 10 minutes
	SlotWait   time.Duration // of a read for its turn; default 5 seconds
	ReadStall  time.Duration // as Stall, of what a viewer waits for; default 8 seconds
}

const (
	defaultRegion      = "us-east-1"
	defaultObjectTime  = 10 * time.Minute
	defaultObjectBytes = 256 << 20
	defaultUploads     = 2
	defaultReads       = 16
	defaultGrace       = 2 * time.Minute
	defaultPoll        = 15 * time.Second
	defaultBackoffMin  = time.Second
	defaultBackoffMax  = 5 * time.Minute
	defaultStall       = 30 * time.Second
	defaultSweep       = 10 * time.Minute
	defaultSlotWait    = 5 * time.Second
	defaultReadStall   = 8 * time.Second

	// maxObjectBytes is what S3 takes in one request.
	maxObjectBytes = 5 << 30
	maxObjectTime  = 24 * time.Hour
	maxPrefix      = 200
)

func (o *Options) fill() error {
	o.Region = cmp.Or(o.Region, defaultRegion)
	o.ObjectTime = cmp.Or(o.ObjectTime, defaultObjectTime)
	o.ObjectBytes = cmp.Or(o.ObjectBytes, defaultObjectBytes)
	o.Verify = cmp.Or(o.Verify, VerifyHead)
	o.Uploads = cmp.Or(o.Uploads, defaultUploads)
	o.Reads = cmp.Or(o.Reads, defaultReads)
	o.Grace = cmp.Or(o.Grace, defaultGrace)
	o.Poll = cmp.Or(o.Poll, defaultPoll)
	o.BackoffMin = cmp.Or(o.BackoffMin, defaultBackoffMin)
	o.BackoffMax = cmp.Or(o.BackoffMax, defaultBackoffMax)
	o.Stall = cmp.Or(o.Stall, defaultStall)
	o.Sweep = cmp.Or(o.Sweep, defaultSweep)
	o.SlotWait = cmp.Or(o.SlotWait, defaultSlotWait)
	o.ReadStall = cmp.Or(o.ReadStall, defaultReadStall)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Event == nil {
		o.Event = func(event.Event) {}
	}
	return o.check()
}

func (o *Options) check() error {
	switch {
	case o.Dir == "" || o.Index == nil:
		return errors.New("second home: Dir and Index are needed")
	case o.Bucket == "":
		return errors.New("second home: a bucket is needed")
	case o.AccessKey == "" || o.SecretKey.IsZero():
		return errors.New("second home: an access key and its secret key are needed")
	case o.ObjectTime < time.Minute || o.ObjectTime > maxObjectTime:
		return fmt.Errorf("second home: an object is of one minute to %d hours", int(maxObjectTime/time.Hour))
	case o.ObjectBytes < 1 || o.ObjectBytes > maxObjectBytes:
		return fmt.Errorf("second home: an object has at most %d bytes", int64(maxObjectBytes))
	case o.Verify != VerifySent && o.Verify != VerifyHead && o.Verify != VerifyRead:
		return errors.New("second home: verify is sent, head or read")
	case o.Uploads < 1 || o.Reads < 1 || o.Bandwidth < 0 || o.MaxAge < 0 || o.MaxBytes < 0:
		return errors.New("second home: a limit is negative")
	}
	if err := CheckPrefix(o.Prefix); err != nil {
		return fmt.Errorf("second home: %w", err)
	}
	if o.Endpoint == "" {
		return nil
	}
	if err := CheckEndpoint(o.Endpoint); err != nil {
		return fmt.Errorf("second home: %w", err)
	}
	return nil
}

// CheckEndpoint says what is wrong with the URL of a store; nil if it can be used. The
// error does not show it, since a login may be in it.
func CheckEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("the endpoint must be an https:// or http:// URL without a login")
	}
	return nil
}

// CheckPrefix says what is wrong with what all names in the bucket begin with.
func CheckPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	if len(prefix) > maxPrefix || !strings.HasSuffix(prefix, "/") || strings.HasPrefix(prefix, "/") || strings.Contains(prefix, "//") {
		return fmt.Errorf("the prefix must end in a slash, begin with none, and have at most %d bytes", maxPrefix)
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(prefix, "/"), "/") {
		if part == "." || part == ".." || strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.=") != "" {
			return errors.New("the prefix has letters, digits, - _ . = and slashes only")
		}
	}
	return nil
}
