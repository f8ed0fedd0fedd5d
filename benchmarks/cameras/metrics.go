package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxMetricsBytes bounds a scrape.
const maxMetricsBytes = 16 << 20

// metrics is a scrape: the value of each series, under its name with its labels.
type metrics map[string]float64

// sum adds up all series of a name that have a label, as `state="live"`; any label
// will do if it is "".
func (m metrics) sum(name, label string) float64 {
	total := 0.0
	for series, value := range m {
		own, labels, _ := strings.Cut(series, "{")
		if own == name && strings.Contains(labels, label) {
			total += value
		}
	}
	return total
}

// parseMetrics reads Prometheus' text format. Lines without a number are left out.
func parseMetrics(text io.Reader) (metrics, error) {
	m := metrics{}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		// A label's value may hold blanks; a value holds none.
		series, number, found := cutLast(line, " ")
		if !found {
			continue
		}
		if value, err := strconv.ParseFloat(number, 64); err == nil {
			m[series] = value
		}
	}
	return m, lines.Err()
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}

func (s *server) metrics(ctx context.Context) (metrics, error) {
	body, err := get(ctx, "http://"+s.address+"/metrics", time.Minute)
	if err != nil {
		return nil, err
	}
	return parseMetrics(strings.NewReader(string(body)))
}

func get(ctx context.Context, url string, limit time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxMetricsBytes))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s", url, response.Status)
	}
	return body, err
}
