package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// A client asks a running server.
type client struct {
	base *url.URL
	http *http.Client
}

// clientPatience is how long one answer may take, and mostAnswer how large it may be:
// ten thousand cameras have room in it.
const (
	clientPatience = 30 * time.Second
	mostAnswer     = 64 << 20
)

// addClientFlags adds what says where the server is.
func addClientFlags(cmd *cobra.Command) {
	cmd.Flags().String("server", "", "the running server's `URL`, as http://host:port; by default the one that the configuration is for")
	addSomeConfigFlags(cmd)
}

func newClient(cmd *cobra.Command) (*client, error) {
	server, err := cmd.Flags().GetString("server")
	if err != nil {
		return nil, err
	}
	if server == "" {
		c, err := loadConfig(cmd)
		if err != nil {
			return nil, err
		}
		scheme := "http"
		if c.HTTP.TLS.Cert != "" || len(c.HTTP.ACME.Domains) > 0 {
			scheme = "https"
		}
		server = scheme + "://" + reachable(c.HTTP.Address)
	}
	base, err := url.Parse(server)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, errors.New("--server must be like http://127.0.0.1:8090")
	}
	return &client{base: base, http: &http.Client{Timeout: clientPatience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// reachable turns an address that is listened on into one to connect to.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// do sends a request and reads the answer into out, where that is not nil. Its error
// says what the server had to say.
func (c *client) do(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath(path).String(), body)
	if err != nil {
		return err
	}
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("no answer from %s: start the server there (drover serve), or say where it is by --server: %w", c.base.Host, cause(err))
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if response.StatusCode >= 300 {
		return refusal(response.StatusCode, answer)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("%s did not answer like Drover: %w", c.base.Host, err)
	}
	return nil
}

// cause leaves out the URL, which the message has already, and the calls that failed.
func cause(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno // "connection refused", without what dialled
	}
	return err
}

// refusal turns problem details (RFC 9457) into an error.
func refusal(status int, answer []byte) error {
	var problem struct {
		Title  string `json:"title"`
		Detail string `json:"detail"`
		Errors []struct {
			Message  string `json:"message"`
			Location string `json:"location"`
		} `json:"errors"`
	}
	if err := json.Unmarshal(answer, &problem); err != nil || problem.Title == "" {
		return fmt.Errorf("the server answered %d %s", status, http.StatusText(status))
	}
	text := strings.ToLower(problem.Title[:1]) + problem.Title[1:]
	if problem.Detail != "" {
		text += ": " + problem.Detail
	}
	for _, e := range problem.Errors {
		text += "\n  " + strings.TrimPrefix(e.Location, "body.") + ": " + e.Message
	}
	return errors.New(text)
}
