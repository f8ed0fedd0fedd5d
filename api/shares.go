package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/drover-video/drover/core/config"
	"github.com/drover-video/drover/core/share"
)

// Shares is the book of links that were given away. Errors are those of package
// share, or a failure of the server.
type Shares interface {
	Create(ctx context.Context, s share.Share) (share.Share, string, error)
	List() []share.Share
	Revoke(ctx context.Context, id share.ID) error
	RevokeOf(ctx context.Context, camera string) error
	Viewers(id share.ID) int
	// Check says what a token allows, and Enter counts one more who uses it. Both
	// are asked for each request and look nothing up on disk.
	Check(token string) (share.Claims, error)
	Enter(c share.Claims, address, agent string) error
}

// Share is a link to a camera that was given away, without its token.
type Share struct {
	ID         string    `json:"id"`
	Camera     string    `json:"camera"`
	Action     string    `json:"action" enum:"watch,archive"`
	Name       string    `json:"name" doc:"For people; may be empty"`
	CreatedAt  timestamp `json:"created_at"`
	ExpiresAt  timestamp `json:"expires_at"`
	MaxViewers int       `json:"max_viewers" doc:"At once; 0 for no limit"`
	Viewers    int       `json:"viewers" doc:"Who watches by it now, where there is a limit"`
}

// GivenShare is a share just made, with what to give away.
type GivenShare struct {
	Share
	Token    string `json:"token" doc:"Shown this once"`
	Watch    string `json:"watch" doc:"Path of the player page"`
	Playlist string `json:"playlist" doc:"Path of the multivariant playlist"`
}

// NewShare is the body of a POST.
type NewShare struct {
	Camera     string     `json:"camera" maxLength:"63" example:"door"`
	Action     string     `json:"action,omitempty" enum:"watch,archive" default:"watch" doc:"watch: the live picture; archive: what was recorded, too"`
	Name       string     `json:"name,omitempty" maxLength:"200" doc:"For people"`
	ExpiresIn  string     `json:"expires_in,omitempty" maxLength:"32" example:"24h" doc:"A time with its unit; 24h where neither this nor expires_at is given"`
	ExpiresAt  *time.Time `json:"expires_at,omitempty"`
	MaxViewers int        `json:"max_viewers,omitempty" minimum:"0" maximum:"20000" doc:"At once; 0 for no limit"`
}

type newShareAnswer struct {
	Location string `header:"Location"`
	Body     GivenShare
}

type shareList struct {
	Body struct {
		Shares []Share `json:"shares" nullable:"false"`
	}
}

type sharePath struct {
	ID string `path:"id" maxLength:"64" doc:"The share's id"`
}

const (
	defaultLifetime = 24 * time.Hour
	leastLifetime   = time.Second

	// checkCacheSeconds is how long a cache may go on letting a token in without
	// asking: so long after it was taken back it may still work there.
	checkCacheSeconds = 10
)

func (rs *routes) registerShares(api huma.API) {
	const path = "/api/v1/shares"
	tagged := func(op huma.Operation) huma.Operation {
		op.Tags = []string{"shares"}
		return op
	}
	huma.Register(api, tagged(operation("list-shares", http.MethodGet, path, "Links that were given away and work")), rs.listShares)
	huma.Register(api, tagged(created(operation("add-share", http.MethodPost, path, "Make a link to a camera that can be given away",
		http.StatusNotFound, http.StatusConflict))), rs.addShare)
	huma.Register(api, tagged(operation("revoke-share", http.MethodDelete, path+"/{id}", "Take a link back", http.StatusNotFound)), rs.revokeShare)
	check := tagged(operation("check-share", http.MethodGet, path+"/check",
		"Whether a link is good: for auth_request of nginx, which may keep the answer for 10 s", http.StatusForbidden))
	check.DefaultStatus = http.StatusNoContent
	huma.Register(api, check, rs.checkShare)
}

func (rs *routes) shareOf(s share.Share) Share {
	return Share{ID: string(s.ID), Camera: s.Camera, Action: string(s.Action), Name: s.Name, CreatedAt: timestamp(s.Created),
		ExpiresAt: timestamp(s.Expires), MaxViewers: s.MaxViewers, Viewers: rs.options.Shares.Viewers(s.ID)}
}

func (rs *routes) listShares(context.Context, *struct{}) (*shareList, error) {
	list := &shareList{}
	list.Body.Shares = []Share{}
	for _, s := range rs.options.Shares.List() {
		list.Body.Shares = append(list.Body.Shares, rs.shareOf(s))
	}
	return list, nil
}

func (rs *routes) addShare(ctx context.Context, in *struct{ Body NewShare }) (*newShareAnswer, error) {
	expires, err := in.Body.expires(time.Now())
	if err != nil {
		return nil, err
	}
	camera := in.Body.Camera
	if _, known := rs.options.Cameras.Get(camera); !known {
		return nil, noCamera(camera)
	}
	given, token, err := rs.options.Shares.Create(ctx, share.Share{Name: in.Body.Name, Claims: share.Claims{
		Camera: camera, Action: share.Action(in.Body.Action), Expires: expires, MaxViewers: in.Body.MaxViewers}})
	if err != nil {
		return nil, rs.shareProblem(err)
	}
	// Removed while the share was made, it would be shared when it is made anew.
	if _, known := rs.options.Cameras.Get(camera); !known {
		if err := rs.options.Shares.Revoke(ctx, given.ID); err != nil && !errors.Is(err, share.ErrNotFound) {
			return nil, rs.shareProblem(err)
		}
		return nil, noCamera(camera)
	}
	base := sharedPrefix + token
	return &newShareAnswer{Location: "/api/v1/shares/" + string(given.ID), Body: GivenShare{
		Share: rs.shareOf(given), Token: token,
		Watch: base + "/watch/" + camera, Playlist: base + "/hls/" + camera + "/index.m3u8",
	}}, nil
}

func (in NewShare) expires(now time.Time) (time.Time, error) {
	at, field := now.Add(defaultLifetime), "expires_in"
	switch {
	case in.ExpiresAt != nil && in.ExpiresIn != "":
		return at, invalid(field, "give either this or expires_at")
	case in.ExpiresAt != nil:
		at, field = *in.ExpiresAt, "expires_at"
	case in.ExpiresIn != "":
		lifetime, err := config.ParseDuration(in.ExpiresIn)
		if err != nil {
			return at, invalid(field, "%v", err)
		}
		at = now.Add(min(lifetime, 2*share.MaxLifetime))
	}
	if at.Before(now.Add(leastLifetime)) || at.After(now.Add(share.MaxLifetime)) {
		return at, invalid(field, "a share lasts from 1 s to %s", config.FormatDuration(share.MaxLifetime))
	}
	return at, nil
}

func (rs *routes) revokeShare(ctx context.Context, in *sharePath) (*struct{}, error) {
	if err := rs.options.Shares.Revoke(ctx, share.ID(in.ID)); err != nil {
		return nil, rs.shareProblem(err)
	}
	return nil, nil
}

func (rs *routes) shareProblem(err error) error {
	switch {
	case errors.Is(err, share.ErrNotFound):
		return problem(problemNoShare, "there is no such share, or it was taken back or has expired")
	case errors.Is(err, share.ErrTooMany):
		return problem(problemShares, fmt.Sprintf("there are %d shares already: take some back, or let them expire", share.MaxShares))
	default:
		rs.options.Log.Error("a share could not be changed", "err", err)
		return unmade(err)
	}
}

type checkRequest struct {
	URI    string `header:"X-Original-URI" maxLength:"4096" doc:"The path that was asked for: /s/{token}/…"`
	Client string `header:"X-Real-IP" maxLength:"64" doc:"Who asked; without it, who asks here"`
	Agent  string `header:"User-Agent"`
	remote string
}

// Resolve implements huma.Resolver.
func (in *checkRequest) Resolve(ctx huma.Context) []error {
	in.remote = hostOf(ctx.RemoteAddr())
	return nil
}

type checkAnswer struct {
	CacheControl string `header:"Cache-Control"`
}

// checkShare answers a proxy. Any refusal is a 403, for nginx takes all but that
// and 401 for a failure.
func (rs *routes) checkShare(_ context.Context, in *checkRequest) (*checkAnswer, error) {
	path, _, _ := strings.Cut(in.URI, "?")
	s, ok := parseShared(path)
	if !ok {
		return nil, problem(problemShareInvalid, "X-Original-URI must be a path below /s/{token}/hls/, /s/{token}/archive/ or /s/{token}/watch/")
	}
	claims, refusal := s.open(rs.options.Shares)
	if refusal != nil {
		refusal.Status = http.StatusForbidden
		return nil, refusal
	}
	if s.tree != "watch" {
		client := in.Client
		if client == "" {
			client = in.remote
		}
		if err := rs.options.Shares.Enter(claims, client, in.Agent); err != nil {
			refusal = problem(problemShareFull, "as many watch by this link as may")
			refusal.Status = http.StatusForbidden
			return nil, refusal
		}
	}
	seconds := min(checkCacheSeconds, int(time.Until(claims.Expires)/time.Second))
	return &checkAnswer{CacheControl: fmt.Sprintf("max-age=%d", max(0, seconds))}, nil
}
