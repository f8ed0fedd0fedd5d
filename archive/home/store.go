package home

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"
)

// sum is a SHA-256.
type sum = [sha256.Size]byte

// A store is a bucket. Its methods may be called by all; each makes one request and
// tries nothing again. Their errors are Failures, or the context's.
type store struct {
	client       *s3.Client
	signer       *s3.PresignClient
	transport    *transport
	bucket       *string
	prefix       string
	storageClass types.StorageClass
	stall        time.Duration
}

func newStore(o *Options) *store {
	t := newTransport(o.Stall, o.Now, o.Uploads+o.Reads+2)
	keys := aws.Credentials{AccessKeyID: o.AccessKey, SecretAccessKey: o.SecretKey.Reveal()}
	options := s3.Options{
		Region:       o.Region,
		UsePathStyle: !o.VirtualHost,
		HTTPClient:   t.client(),
		Credentials:  aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return keys, nil }),
		Retryer:      aws.NopRetryer{}, // what is tried again, and when, is decided by who asks
		Logger:       logging.Nop{},
		// A store that refuses says so before it is sent anything.
		ContinueHeaderThresholdBytes: 64 << 10,
		RequestChecksumCalculation:   aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation:   aws.ResponseChecksumValidationWhenRequired,

		DisableLogOutputChecksumValidationSkipped: true,
	}
	if o.Endpoint != "" {
		options.BaseEndpoint = aws.String(strings.TrimSuffix(o.Endpoint, "/"))
	}
	client := s3.New(options)
	return &store{
		client: client, signer: s3.NewPresignClient(client), transport: t,
		bucket: aws.String(o.Bucket), prefix: o.Prefix, storageClass: types.StorageClass(o.StorageClass), stall: o.Stall,
	}
}

func (s *store) close() { s.transport.base.CloseIdleConnections() }

func (s *store) key(name string) *string { return aws.String(s.prefix + name) }

// put sends an object of size bytes with a checksum, which the store holds against
// what it gets, and returns what the store calls it.
func (s *store) put(ctx context.Context, name string, body io.Reader, size int64, checksum sum) (tag string, err error) {
	ctx, watch, stop := newWatch(ctx, s.stall)
	defer stop()
	in := &s3.PutObjectInput{
		Bucket: s.bucket, Key: s.key(name), ContentType: aws.String("video/mp4"), StorageClass: s.storageClass,
		ContentLength:  aws.Int64(size),
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(checksum[:])),
		// Its end moves the watch on: the store may look the object over for long.
		Body: &watched{reader: body, watch: watch, left: size, rest: 4 * s.stall},
	}
	out, err := s.client.PutObject(ctx, in, signPayload(checksum))
	if err != nil {
		err = s.explain(ctx, "send an object", err)
		if f, ok := err.(*Failure); ok && f.Reason == ReasonMissing {
			f.Reason = ReasonNoBucket // nothing else can be missing
		}
		return "", err
	}
	return cleanTag(aws.ToString(out.ETag)), nil
}

// signPayload makes the checksum of the body a part of the signature, over plain HTTP
// and HTTPS alike, and spares the client from reading the body twice.
func signPayload(checksum sum) func(*s3.Options) {
	set := middleware.InitializeMiddlewareFunc("DroverPayloadHash", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		return next.HandleInitialize(v4.SetPayloadHash(ctx, hex.EncodeToString(checksum[:])), in)
	})
	return s3.WithAPIOptions(func(stack *middleware.Stack) error { return stack.Initialize.Add(set, middleware.Before) })
}

// A watched reader tells a watch of each byte.
type watched struct {
	reader io.Reader
	watch  *watch
	left   int64
	rest   time.Duration
}

func (w *watched) Read(into []byte) (int, error) {
	n, err := w.reader.Read(into)
	if n > 0 {
		if w.left -= int64(n); w.left > 0 {
			w.watch.moved()
		} else {
			w.watch.rest(w.rest)
		}
	}
	return n, err
}

// cleanTag keeps a tag that can be sent back and kept.
func cleanTag(tag string) string {
	const most = 128
	if len(tag) > most {
		return ""
	}
	for _, c := range []byte(tag) {
		if c < 0x20 || c > 0x7e {
			return ""
		}
	}
	return tag
}

// short is for requests without a body to speak of.
func (s *store) short(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 2*s.stall)
}

// explain makes a Failure of what the client says, as the function of this name does,
// and looks at the clocks, too: an answer to HEAD is refused without a reason.
func (s *store) explain(ctx context.Context, step string, err error) error {
	const suspicious = 10 * time.Minute // S3 allows for a quarter of an hour
	err = explain(ctx, step, err)
	var f *Failure
	if skew, ok := s.skew(); ok && errors.As(err, &f) {
		switch {
		case f.Reason == ReasonClock:
			f.Skew = skew
		case f.Reason == ReasonRefused && f.plain() && skew.Abs() > suspicious:
			f.Reason, f.Skew = ReasonClock, skew
		}
	}
	return err
}

// head asks what the store has: its size and tag, and its checksum where the store
// keeps it.
func (s *store) head(ctx context.Context, name string) (size int64, tag string, checksum *sum, err error) {
	limited, cancel := s.short(ctx)
	defer cancel()
	out, err := s.client.HeadObject(limited, &s3.HeadObjectInput{Bucket: s.bucket, Key: s.key(name), ChecksumMode: types.ChecksumModeEnabled})
	if err != nil {
		return 0, "", nil, s.explain(ctx, "ask for an object", err)
	}
	if raw, err := base64.StdEncoding.DecodeString(aws.ToString(out.ChecksumSHA256)); err == nil && len(raw) == sha256.Size {
		checksum = (*sum)(raw)
	}
	return aws.ToInt64(out.ContentLength), cleanTag(aws.ToString(out.ETag)), checksum, nil
}

// get returns n bytes of an object from an offset on. The object must still be the one
// of the tag, if there is one. The body must be closed.
func (s *store) get(ctx context.Context, name, tag string, offset, n int64) (io.ReadCloser, error) {
	ctx, watch, stop := newWatch(ctx, s.stall)
	in := &s3.GetObjectInput{Bucket: s.bucket, Key: s.key(name), Range: aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+n-1))}
	if tag != "" {
		in.IfMatch = aws.String(tag)
	}
	out, err := s.client.GetObject(ctx, in)
	if err != nil {
		err = s.explain(ctx, "read an object", err)
		stop()
		return nil, err
	}
	if !strings.HasPrefix(aws.ToString(out.ContentRange), fmt.Sprintf("bytes %d-%d/", offset, offset+n-1)) || aws.ToInt64(out.ContentLength) != n {
		out.Body.Close()
		stop()
		return nil, &Failure{Step: "read an object", Reason: ReasonRejected, Status: http.StatusOK}
	}
	return &incoming{ctx: ctx, body: out.Body, watch: watch, stop: stop, left: n}, nil
}

// incoming is the body of a get: exactly so many bytes, or an error.
type incoming struct {
	ctx   context.Context
	body  io.ReadCloser
	watch *watch
	stop  func()
	left  int64
}

func (r *incoming) Read(into []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	// The time that whoever reads takes between two calls is not the store's.
	r.watch.moved()
	n, err := r.body.Read(into[:min(int64(len(into)), r.left)])
	r.left -= int64(n)
	r.watch.timer.Stop()
	switch {
	case r.left == 0:
		return n, nil
	case err == io.EOF:
		return n, &Failure{Step: "read an object", Reason: ReasonUnreachable}
	case err != nil:
		return n, explain(r.ctx, "read an object", err)
	}
	return n, nil
}

func (r *incoming) Close() error {
	r.stop()
	return r.body.Close()
}

// tail returns the end of an object, at most n bytes, and the size of the object.
func (s *store) tail(ctx context.Context, name string, size, n int64) ([]byte, error) {
	n = min(n, size)
	body, err := s.get(ctx, name, "", size-n, n)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	end := make([]byte, n)
	if _, err := io.ReadFull(body, end); err != nil {
		return nil, err
	}
	return end, nil
}

// remove deletes an object; one that is not there is deleted.
func (s *store) remove(ctx context.Context, name string) error {
	limited, cancel := s.short(ctx)
	defer cancel()
	_, err := s.client.DeleteObject(limited, &s3.DeleteObjectInput{Bucket: s.bucket, Key: s.key(name)})
	err = s.explain(ctx, "delete an object", err)
	if ReasonOf(err) == ReasonMissing {
		return nil
	}
	return err
}

// probeName is that of no object.
const probeName = "drover-probe"

// probe asks whether the bucket can be read, by asking for what is not in it: unlike an
// answer to HEAD, that to GET says why not.
func (s *store) probe(ctx context.Context) error {
	limited, cancel := s.short(ctx)
	defer cancel()
	out, err := s.client.GetObject(limited, &s3.GetObjectInput{Bucket: s.bucket, Key: s.key(probeName), Range: aws.String("bytes=0-0")})
	if err == nil {
		return out.Body.Close()
	}
	if err = s.explain(ctx, "look at the bucket", err); ReasonOf(err) == ReasonMissing {
		return nil
	}
	return err
}

// skew returns by how much the store's clock is ahead of ours, as of the last answer;
// false where none came.
func (s *store) skew() (time.Duration, bool) {
	return time.Duration(s.transport.skew.Load()), s.transport.heard.Load()
}

// A listed object.
type listed struct {
	name  string // without the prefix
	bytes int64
}

// list calls each for all objects below the prefix, a thousand a request.
func (s *store) list(ctx context.Context, each func(listed) error) error {
	in := &s3.ListObjectsV2Input{Bucket: s.bucket, Prefix: aws.String(s.prefix)}
	for {
		page, err := s.page(ctx, in)
		if err != nil {
			return err
		}
		for i := range page.Contents {
			name, ok := strings.CutPrefix(aws.ToString(page.Contents[i].Key), s.prefix)
			if !ok {
				continue
			}
			if err := each(listed{name, aws.ToInt64(page.Contents[i].Size)}); err != nil {
				return err
			}
		}
		if !aws.ToBool(page.IsTruncated) || aws.ToString(page.NextContinuationToken) == "" {
			return nil
		}
		in.ContinuationToken = page.NextContinuationToken
	}
}

func (s *store) page(ctx context.Context, in *s3.ListObjectsV2Input) (*s3.ListObjectsV2Output, error) {
	limited, cancel := s.short(ctx)
	defer cancel()
	page, err := s.client.ListObjectsV2(limited, in)
	return page, s.explain(ctx, "list objects", err)
}

// url returns a URL by which anybody may read an object for a while.
func (s *store) url(ctx context.Context, name string, valid time.Duration) (string, error) {
	request, err := s.signer.PresignGetObject(ctx, &s3.GetObjectInput{Bucket: s.bucket, Key: s.key(name)}, s3.WithPresignExpires(valid))
	if err != nil {
		return "", explain(ctx, "sign a URL", err)
	}
	return request.URL, nil
}
