// Package rtsptest is Drover's simulated cameras: an RTSP server that plays
// clips made by ffmpeg, and misbehaves on command. It speaks the protocol with
// the standard library alone, so that a fault shared by Drover and a media
// library cannot hide in its own tests.
//
// A test starts cameras with Start and looks at what the client under test did
// with Camera.Seen and Camera.WaitUntil:
//
//	server := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", AAC: true,
//		Faults: []rtsptest.Fault{{After: 5 * time.Second, Once: true, Do: rtsptest.Stall()}}})
//	camera := server.Camera("door") // camera.URL() is what to pull
//
// Conversations of single bytes, which no camera of a clip would hold, are
// written with Script.
//
// Each client of a camera has RTP streams of its own (SSRC, sequence numbers,
// timestamps, faults); the pictures are the camera's and go on while nobody
// looks.
package rtsptest
