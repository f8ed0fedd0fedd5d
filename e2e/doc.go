// Package e2e proves Drover as a whole: each test builds and starts the real
// binary, points it at simulated cameras, and looks at what comes out with ffmpeg,
// tstools and Chromium. The tests are behind a build tag, for they take minutes
// and need these tools; `make test` installs them and runs
//
//	go test -tags e2e ./e2e/
//
// Where DROVER_CAMERA_SIM names a GStreamer camera rack, its cameras are played too.
package e2e
