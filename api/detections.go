package api

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/drover-video/drover/core/detection"
	"github.com/drover-video/drover/core/footage"
)

// Detections takes what AI workers see, and knows what was seen. Errors of what makes
// no sense are *detection.Error.
type Detections interface {
	Report(r detection.Report) error
	Detections(ctx context.Context, q detection.Query) ([]detection.Seen, detection.Cursor, error)
	Events(ctx context.Context, q detection.EventQuery) ([]detection.Event, detection.Cursor, error)

	// After returns reports of a camera as they came, and Newest the number of the
	// last one.
	After(camera string, number uint64, limit int) detection.Batch
	Newest(camera string) uint64

	Rules(camera string) []detection.Rule
	SetRule(ctx context.Context, r detection.Rule) (detection.Rule, error)
	RemoveRule(ctx context.Context, camera, id string) (found bool, err error)
}

// queryTimeout bounds what one question may cost.
const queryTimeout = 10 * time.Second

type detectionsRequest struct {
	Accept   string  `header:"Accept" doc:"text/event-stream for those to come, of one camera"`
	LastID   string  `header:"Last-Event-ID" maxLength:"32" doc:"Go on after this, in a stream"`
	Camera   string  `query:"camera" maxLength:"63" doc:"Only those of this camera"`
	From     string  `query:"from" maxLength:"40" doc:"Only those of frames from then on: RFC 3339, Unix seconds, or Unix milliseconds" example:"2026-12-01T00:00:00Z"`
	To       string  `query:"to" maxLength:"40" doc:"Only those of frames before then"`
	Label    string  `query:"label" maxLength:"64" doc:"Only those of this label"`
	MinScore float64 `query:"min_score" minimum:"0" maximum:"1" doc:"Only those with at least this score"`
	Order    string  `query:"order" enum:"oldest,newest" default:"oldest" doc:"Which come first"`
	Limit    int     `query:"limit" minimum:"1" maximum:"5000" default:"500"`
	Cursor   string  `query:"cursor" maxLength:"64" doc:"Go on where the answer before ended"`
}

type detectionEventsRequest struct {
	Camera string `query:"camera" maxLength:"63" doc:"Only those of this camera"`
	From   string `query:"from" maxLength:"40" doc:"Only those that end then or later: RFC 3339, Unix seconds, or Unix milliseconds" example:"2026-12-01T00:00:00Z"`
	To     string `query:"to" maxLength:"40" doc:"Only those that begin before then"`
	Rule   string `query:"rule" maxLength:"63" doc:"Only those of the rule of this id"`
	Label  string `query:"label" maxLength:"64" doc:"Only those of this label"`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Cursor string `query:"cursor" maxLength:"64" doc:"Go on where the answer before ended"`
}

type detectionEventsAnswer struct{ Body DetectionEventList }

type reportRequest struct {
	ID   string `path:"id" doc:"The camera's id"`
	Body NewReport
}

type reportAnswer struct {
	Body struct {
		Detections int `json:"detections" doc:"How many were taken. They are on disk a moment later."`
	}
}

type rulePath struct {
	ID   string `path:"id" doc:"The camera's id"`
	Rule string `path:"rule" doc:"The rule's id"`
}

type ruleRequest struct {
	ID   string `path:"id" doc:"The camera's id"`
	Body NewRule
}

type ruleAnswer struct {
	Location string `header:"Location"`
	Body     Rule
}

type ruleList struct {
	Body struct {
		Rules []Rule `json:"rules" nullable:"false"`
	}
}

func (rs *routes) registerDetections(api huma.API) {
	tagged := func(op huma.Operation, status int) huma.Operation {
		op.Tags = []string{"detections"}
		op.DefaultStatus = status
		op.Errors = append(op.Errors, http.StatusServiceUnavailable)
		return op
	}
	const rules = "/api/v1/cameras/{id}/rules"
	report := tagged(operation("report-detections", http.MethodPost, "/api/v1/cameras/{id}/detections",
		"Say what was seen in a frame", http.StatusNotFound, http.StatusTooManyRequests), http.StatusAccepted)
	report.MaxBodyBytes = maxReportBytes + 1
	report.Middlewares = huma.Middlewares{rs.limitReports}
	huma.Register(api, report, rs.reportDetections)
	huma.Register(api, tagged(operation("list-detection-events", http.MethodGet, "/api/v1/detections/events",
		"What rules found in what was seen", http.StatusUnprocessableEntity), http.StatusOK), rs.listDetectionEvents)
	huma.Register(api, tagged(operation("list-rules", http.MethodGet, rules, "What makes events of a camera's detections", http.StatusNotFound), http.StatusOK), rs.listRules)
	huma.Register(api, tagged(operation("set-rule", http.MethodPost, rules, "Add a rule, or replace the one of its id",
		http.StatusNotFound), http.StatusCreated), rs.setRule)
	huma.Register(api, tagged(operation("remove-rule", http.MethodDelete, rules+"/{rule}", "Remove a rule", http.StatusNotFound), http.StatusNoContent), rs.removeRule)
	rs.registerDetectionStream(api, tagged)
}

func (rs *routes) registerDetectionStream(api huma.API, tagged func(huma.Operation, int) huma.Operation) {
	op := tagged(operation("list-detections", http.MethodGet, "/api/v1/detections", "What was seen; those to come with Accept: text/event-stream",
		http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusTooManyRequests), http.StatusOK)
	list := api.OpenAPI().Components.Schemas.Schema(typeOf[DetectionList](), true, "DetectionList")
	one := api.OpenAPI().Components.Schemas.Schema(typeOf[LiveReport](), true, "LiveReport")
	op.Responses = map[string]*huma.Response{"200": {
		Description: "What is kept, or a stream that does not end: each message's data is a LiveReport, and a message of type missed says how many are lost",
		Content:     map[string]*huma.MediaType{"application/json": {Schema: list}, "text/event-stream": {Schema: one}},
	}}
	huma.Register(api, op, rs.detections)
}

func (rs *routes) reportDetections(_ context.Context, in *reportRequest) (*reportAnswer, error) {
	if rs.options.Detections == nil {
		return nil, noDetections()
	}
	report, err := in.Body.report(in.ID)
	if err == nil {
		err = rs.options.Detections.Report(report)
	}
	if err != nil {
		return nil, rs.detectionProblem(err, in.ID)
	}
	answer := &reportAnswer{}
	answer.Body.Detections = len(report.Detections)
	return answer, nil
}

func (rs *routes) listDetectionEvents(ctx context.Context, in *detectionEventsRequest) (*detectionEventsAnswer, error) {
	if rs.options.Detections == nil {
		return nil, noDetections()
	}
	after, err := detection.ParseCursor(in.Cursor)
	if err != nil {
		return nil, queryProblem("cursor", err)
	}
	from, to, err := seenBetween(in.From, in.To)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	all, cursor, err := rs.options.Detections.Events(ctx, detection.EventQuery{
		Camera: in.Camera, From: from, To: to, Rule: in.Rule, Label: in.Label, After: after, Limit: in.Limit,
	})
	if err != nil {
		return nil, rs.unreadable(err)
	}
	answer := &detectionEventsAnswer{Body: DetectionEventList{Events: make([]DetectionEvent, len(all)), Cursor: cursor.String()}}
	for i := range all {
		answer.Body.Events[i] = detectionEventOf(&all[i])
	}
	return answer, nil
}

func (rs *routes) listRules(_ context.Context, in *cameraPath) (*ruleList, error) {
	if err := rs.hasRules(in.ID); err != nil {
		return nil, err
	}
	list := &ruleList{}
	list.Body.Rules = []Rule{}
	for _, r := range rs.options.Detections.Rules(in.ID) {
		list.Body.Rules = append(list.Body.Rules, ruleOf(&r))
	}
	return list, nil
}

func (rs *routes) setRule(ctx context.Context, in *ruleRequest) (*ruleAnswer, error) {
	if err := rs.hasRules(in.ID); err != nil {
		return nil, err
	}
	if in.Body.ID == "" {
		in.Body.ID = ruleID(in.Body.Name)
	}
	rule, err := in.Body.rule(in.ID)
	if err == nil {
		rule, err = rs.options.Detections.SetRule(ctx, rule)
	}
	if err != nil {
		return nil, rs.detectionProblem(err, in.ID)
	}
	return &ruleAnswer{Location: "/api/v1/cameras/" + in.ID + "/rules/" + rule.ID, Body: ruleOf(&rule)}, nil
}

func (rs *routes) removeRule(ctx context.Context, in *rulePath) (*struct{}, error) {
	if err := rs.hasRules(in.ID); err != nil {
		return nil, err
	}
	found, err := rs.options.Detections.RemoveRule(ctx, in.ID, in.Rule)
	switch {
	case err != nil:
		return nil, rs.detectionProblem(err, in.ID)
	case !found:
		return nil, problem(problemNoRule, "the camera has no rule of this id: GET /api/v1/cameras/"+in.ID+"/rules lists those that it has")
	}
	return nil, nil
}

func (rs *routes) hasRules(id string) error {
	if rs.options.Detections == nil {
		return noDetections()
	}
	if _, ok := rs.options.Cameras.Get(id); !ok {
		return noCamera(id)
	}
	return nil
}

func noDetections() error {
	return problem(problemNoDetections, "the store of detections could not be opened: the server's log says why")
}

// detectionProblem returns the problem for what was not taken.
func (rs *routes) detectionProblem(err error, id string) error {
	var refused *detection.Error
	if !errors.As(err, &refused) {
		rs.options.Log.Error("a change of rules was not made", "camera", id, "err", err)
		return problem(problemInternal, "the change was not made: the server's log says why")
	}
	retry := http.Header{"Retry-After": {strconv.Itoa(max(1, int(math.Ceil(refused.Retry.Seconds()))))}}
	switch refused.Reason {
	case detection.ReasonCamera:
		return noCamera(id)
	case detection.ReasonRate:
		return huma.ErrorWithHeaders(problem(problemBusy, refused.Error()), retry)
	case detection.ReasonStorage:
		return huma.ErrorWithHeaders(problem(problemNoDetections, refused.Error()), retry)
	}
	if refused.Field == "" {
		return problem(problemInvalid, refused.Text, &huma.ErrorDetail{Location: "body", Message: refused.Text})
	}
	return invalid(refused.Field, "%s", refused.Text)
}

// seenBetween reads a range; what is missing of it is zero, which is no limit.
func seenBetween(fromText, toText string) (from, to time.Time, err error) {
	for _, p := range []struct {
		name, text string
		into       *time.Time
	}{{"from", fromText, &from}, {"to", toText, &to}} {
		if p.text == "" {
			continue
		}
		at, ok := footage.ParseTime(p.text)
		if !ok {
			return from, to, invalidQuery(p.name, noTime)
		}
		*p.into = at
	}
	return from, to, nil
}

func queryProblem(parameter string, err error) error {
	var refused *detection.Error
	text := "makes no sense"
	if errors.As(err, &refused) {
		text = refused.Text
	}
	return problem(problemInvalid, parameter+": "+text, &huma.ErrorDetail{Location: "query." + parameter, Message: text})
}

func (rs *routes) unreadable(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return problem(problemNoDetections, "this is too much to look through: ask for one camera and less time")
	}
	if !errors.Is(err, context.Canceled) {
		rs.options.Log.Error("what was seen could not be read", "err", err)
	}
	return problem(problemInternal, "this could not be read: the server's log says why")
}
