// A worker in ten lines: it says which frames come of which cameras.
//
//	go run ./ai/workers/go door
//	go run ./ai/workers/go -tap unix:data/tap.sock '*'
package main

import (
	"context"
	"flag"
	"fmt"
	"log"

	"github.com/drover-video/drover/ai/tap"
)

func main() {
	address := flag.String("tap", "127.0.0.1:9090", "host:port of gRPC, or unix:path of the socket of shared memory")
	flag.Parse()
	client, err := tap.Dial(*address)
	if err != nil {
		log.Fatal(err)
	}
	for frame, err := range client.Frames(context.Background(), tap.Request{Cameras: flag.Args(), Worker: "example"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(frame.Camera, frame.Config.Codec, frame.Sequence, frame.Wall, len(frame.Data), frame.Keyframe, frame.Missed)
	}
}
