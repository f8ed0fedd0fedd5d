package home

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// sum is a SHA-256.
type sum = [sha256.Size]byte

// A store is a bucket. Its methods may be called by all; each makes one request and
// tries nothing again. Their errors are Failures, or the context's.
type store struct {
	client       *http.Client
	transport    *transport
	signer       *v4.Signer
	keys         aws.Credentials
	region       string
	base         url.URL // of the bucket, without a slash at its end
	prefix       string
	storageClass string
	stall        time.Duration
}

func newStore(o *Options) (*store, error) {
	endpoint := o.Endpoint
	if endpoint == "" {
		endpoint = "https://s3." + o.Region + ".amazonaws.com"
	}
	base, err := url.Parse(strings.TrimSuffix(endpoint, "/"))
	if err != nil {
		return nil, errors.New("second home: the endpoint is no URL") // the error would show it
	}
	if o.VirtualHost {
		base.Host = o.Bucket + "." + base.Host
	} else {
		base.Path += "/" + o.Bucket
	}
	t := newTransport(o.Stall, o.Now, o.Uploads+o.Reads+2)
	return &store{
		client: t.client(), transport: t,
		// Paths of S3 are signed as they are, and ours have nothing to be escaped.
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }),
		keys:   aws.Credentials{AccessKeyID: o.AccessKey, SecretAccessKey: o.SecretKey.Reveal()},
		region: o.Region, base: *base, prefix: o.Prefix, storageClass: o.StorageClass, stall: o.Stall,
	}, nil
}

func (s *store) close() { s.transport.base.CloseIdleConnections() }

// request returns a request for an object, or for the bucket where name is "".
func (s *store) request(ctx context.Context, method, name string, query url.Values) (*http.Request, error) {
	u := s.base
	u.Path += "/"
	if name != "" {
		u.Path += s.prefix + name
	}
	u.RawQuery = query.Encode()
	return http.NewRequestWithContext(ctx, method, u.String(), nil)
}

// noBody is the checksum of nothing.
const noBody = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// signingSkew is from how far on clocks are apart such that requests are signed by the
// store's: S3 refuses what is a quarter of an hour off.
const signingSkew = 5 * time.Minute

// now is the time that requests are signed with.
func (s *store) now() time.Time {
	now := s.transport.now()
	if skew := time.Duration(s.transport.skew.Load()); skew.Abs() > signingSkew {
		now = now.Add(skew)
	}
	return now
}

// send signs a request and sends it. An answer that is no success is an error, and its
// body has been read.
func (s *store) send(r *http.Request, checksum string) (*http.Response, error) {
	r.Header.Set("X-Amz-Content-Sha256", checksum)
	r.Header.Set("User-Agent", "Drover")
	if err := s.signer.SignHTTP(r.Context(), s.keys, r, checksum, "s3", s.region, s.now()); err != nil {
		return nil, err
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode < 300 {
		return answer, nil
	}
	defer answer.Body.Close()
	return nil, readRefusal(answer)
}

// A refusal is an answer that is no success.
type refusal struct {
	status int
	code   string
}

// Error says nothing: what is told of a refusal is told by a Failure.
func (r *refusal) Error() string { return "the store refuses" }

// readRefusal reads what S3 says of what it did not do.
func readRefusal(answer *http.Response) *refusal {
	r := &refusal{status: answer.StatusCode}
	var said struct {
		XMLName xml.Name `xml:"Error"`
		Code    string   `xml:"Code"`
	}
	if xml.NewDecoder(answer.Body).Decode(&said) == nil { // it is bounded
		r.code = cleanCode(strings.TrimSpace(said.Code))
	}
	return r
}

// put sends an object of size bytes with a checksum, which the store holds against
// what it gets, and returns what the store calls it.
func (s *store) put(ctx context.Context, name string, body io.Reader, size int64, checksum sum) (tag string, err error) {
	ctx, watch, stop := newWatch(ctx, s.stall)
	defer stop()
	r, err := s.request(ctx, http.MethodPut, name, nil)
	if err != nil {
		return "", s.explain(ctx, "send an object", err)
	}
	// Its end moves the watch on: the store may look the object over for long.
	r.Body = io.NopCloser(&watched{reader: body, watch: watch, left: size, rest: 4 * s.stall})
	r.ContentLength = size
	r.Header.Set("Content-Type", "video/mp4")
	// A store that refuses says so before it is sent anything.
	r.Header.Set("Expect", "100-continue")
	r.Header.Set("X-Amz-Checksum-Sha256", base64.StdEncoding.EncodeToString(checksum[:]))
	if s.storageClass != "" {
		r.Header.Set("X-Amz-Storage-Class", s.storageClass)
	}
	answer, err := s.send(r, hex.EncodeToString(checksum[:]))
	if err != nil {
		err = s.explain(ctx, "send an object", err)
		if f, ok := err.(*Failure); ok && f.Reason == ReasonMissing {
			f.Reason = ReasonNoBucket // nothing else can be missing
		}
		return "", err
	}
	return cleanTag(answer.Header.Get("ETag")), drain(answer)
}

// drain reads what is left of a short answer, so that its connection can be used again.
func drain(answer *http.Response) error {
	_, _ = io.Copy(io.Discard, answer.Body) // it is bounded, and nobody needs it
	return answer.Body.Close()
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
	r, err := s.request(limited, http.MethodHead, name, nil)
	if err != nil {
		return 0, "", nil, s.explain(ctx, "ask for an object", err)
	}
	r.Header.Set("X-Amz-Checksum-Mode", "ENABLED")
	answer, err := s.send(r, noBody)
	if err != nil {
		return 0, "", nil, s.explain(ctx, "ask for an object", err)
	}
	if raw, err := base64.StdEncoding.DecodeString(answer.Header.Get("X-Amz-Checksum-Sha256")); err == nil && len(raw) == sha256.Size {
		checksum = (*sum)(raw)
	}
	return answer.ContentLength, cleanTag(answer.Header.Get("ETag")), checksum, drain(answer)
}

// get returns n bytes of an object from an offset on; it fails when none comes for as
// long as stall. The object must still be the one of the tag, if there is one. The body
// must be closed.
func (s *store) get(ctx context.Context, name, tag string, offset, n int64, stall time.Duration) (io.ReadCloser, error) {
	ctx, watch, stop := newWatch(ctx, stall)
	answer, err := s.getRange(ctx, name, tag, offset, n)
	if err != nil {
		err = s.explain(ctx, "read an object", err)
		stop()
		return nil, err
	}
	if !strings.HasPrefix(answer.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-%d/", offset, offset+n-1)) || answer.ContentLength != n {
		answer.Body.Close()
		stop()
		return nil, &Failure{Step: "read an object", Reason: ReasonRejected, Status: answer.StatusCode}
	}
	return &incoming{ctx: ctx, body: answer.Body, watch: watch, stop: stop, left: n}, nil
}

func (s *store) getRange(ctx context.Context, name, tag string, offset, n int64) (*http.Response, error) {
	r, err := s.request(ctx, http.MethodGet, name, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+n-1))
	if tag != "" {
		r.Header.Set("If-Match", tag)
	}
	return s.send(r, noBody)
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
	body, err := s.get(ctx, name, "", size-n, n, s.stall)
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
	r, err := s.request(limited, http.MethodDelete, name, nil)
	if err != nil {
		return s.explain(ctx, "delete an object", err)
	}
	answer, err := s.send(r, noBody)
	if err == nil {
		return drain(answer)
	}
	if err = s.explain(ctx, "delete an object", err); ReasonOf(err) == ReasonMissing {
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
	answer, err := s.getRange(limited, probeName, "", 0, 1)
	if err == nil {
		return answer.Body.Close()
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

// A listing is a part of what is in a bucket.
type listing struct {
	XMLName  xml.Name `xml:"ListBucketResult"`
	Contents []struct {
		Key  string `xml:"Key"`
		Size int64  `xml:"Size"`
	} `xml:"Contents"`
	Truncated bool   `xml:"IsTruncated"`
	Next      string `xml:"NextContinuationToken"`
}

// list calls each for all objects below the prefix, a thousand a request.
func (s *store) list(ctx context.Context, each func(listed) error) error {
	next := ""
	for {
		page, err := s.page(ctx, next)
		if err != nil {
			return err
		}
		for i := range page.Contents {
			name, ok := strings.CutPrefix(page.Contents[i].Key, s.prefix)
			if !ok {
				continue
			}
			if err := each(listed{name, page.Contents[i].Size}); err != nil {
				return err
			}
		}
		if !page.Truncated || page.Next == "" || page.Next == next {
			return nil
		}
		next = page.Next
	}
}

func (s *store) page(ctx context.Context, next string) (*listing, error) {
	const step = "list objects"
	limited, cancel := s.short(ctx)
	defer cancel()
	query := url.Values{"list-type": {"2"}, "prefix": {s.prefix}}
	if next != "" {
		query.Set("continuation-token", next)
	}
	r, err := s.request(limited, http.MethodGet, "", query)
	if err != nil {
		return nil, s.explain(ctx, step, err)
	}
	answer, err := s.send(r, noBody)
	if err != nil {
		return nil, s.explain(ctx, step, err)
	}
	defer answer.Body.Close()
	page := new(listing)
	if err := xml.NewDecoder(answer.Body).Decode(page); err != nil { // it is bounded
		return nil, s.explain(ctx, step, err)
	}
	return page, nil
}

// url returns a URL by which anybody may read an object for a while.
func (s *store) url(ctx context.Context, name string, valid time.Duration) (string, error) {
	r, err := s.request(ctx, http.MethodGet, name, url.Values{"X-Amz-Expires": {strconv.Itoa(int(valid / time.Second))}})
	if err != nil {
		return "", s.explain(ctx, "sign a URL", err)
	}
	signed, _, err := s.signer.PresignHTTP(ctx, s.keys, r, "UNSIGNED-PAYLOAD", "s3", s.region, s.now())
	return signed, s.explain(ctx, "sign a URL", err)
}
