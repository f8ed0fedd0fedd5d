package api

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// checkTimeout bounds each check, so that a stuck part shows as a reason and not
// as a probe that hangs.
const checkTimeout = 2 * time.Second

// Health says that the process is alive.
type Health struct {
	Status  string `json:"status" enum:"ok"`
	Version string `json:"version"`
}

// Readiness says whether Drover is fit to serve.
type Readiness struct {
	Ready  bool          `json:"ready"`
	Checks []CheckResult `json:"checks" nullable:"false"`
}

// CheckResult is how one part is doing.
type CheckResult struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Reason string `json:"reason" doc:"Why it is not; empty if it is"`
}

type readyAnswer struct {
	Status int
	Body   Readiness
}

func (rs *routes) registerHealth(api huma.API) {
	alive := operation("get-health", http.MethodGet, "/healthz", "Alive")
	alive.Tags = []string{"server"}
	huma.Register(api, alive, func(context.Context, *struct{}) (*struct{ Body Health }, error) {
		return &struct{ Body Health }{Health{Status: "ok", Version: rs.options.Version}}, nil
	})
	ready := operation("get-readiness", http.MethodGet, "/readyz", "Fit to serve, or 503 with the reasons")
	ready.Tags = []string{"server"}
	schema := api.OpenAPI().Components.Schemas.Schema(typeOf[Readiness](), true, "Readiness")
	ready.Responses = map[string]*huma.Response{"503": {
		Description: "Not fit to serve", Content: map[string]*huma.MediaType{"application/json": {Schema: schema}},
	}}
	huma.Register(api, ready, rs.ready)
}

func (rs *routes) ready(ctx context.Context, _ *struct{}) (*readyAnswer, error) {
	answer := &readyAnswer{Status: http.StatusOK, Body: Readiness{Ready: true, Checks: []CheckResult{}}}
	for _, check := range rs.options.Checks {
		result := CheckResult{Name: check.Name, OK: true}
		checkCtx, cancel := context.WithTimeout(ctx, checkTimeout)
		if err := check.Run(checkCtx); err != nil {
			result.OK, result.Reason = false, err.Error()
			answer.Body.Ready, answer.Status = false, http.StatusServiceUnavailable
		}
		cancel()
		answer.Body.Checks = append(answer.Body.Checks, result)
	}
	return answer, nil
}

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }
