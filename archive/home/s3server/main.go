// Command s3server is a real S3 server for the tests of archive/home: the gateway of
// Versity over a folder. It is a module of its own, for its many dependencies not to
// become Drover's.
//
// It serves until its standard input ends: it does not outlive the test that began it.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: s3server folder socket access-key secret-key")
		os.Exit(2)
	}
	if err := serve(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(folder, socket, access, secret string) error {
	data, sidecar := filepath.Join(folder, "data"), filepath.Join(folder, "meta")
	for _, dir := range []string{data, sidecar} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	// Extended attributes are not to be had on every file system.
	attributes, err := meta.NewSideCar(sidecar)
	if err != nil {
		return err
	}
	backend, err := posix.New(data, attributes, posix.PosixOpts{SideCarDir: sidecar, NewDirPerm: 0o700})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return embedgw.RunVersityGW(ctx, backend, &embedgw.Config{
		RootUserAccess: access, RootUserSecret: secret, Region: "us-east-1", Ports: []string{socket},
		MaxConnections: 1000, MaxRequests: 1000, MultipartMaxParts: 10000, KeepAlive: true, Quiet: true,
	})
}
