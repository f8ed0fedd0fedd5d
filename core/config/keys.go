package config

import (
	"strings"
	"time"

	"github.com/drover-video/drover/core/viewer"
)

// A key is one thing that can be set: by flag, environment or file.
type key struct {
	name     string // "http.address": also the flag's name
	fallback string // the default, as one would write it
	usage    string
	set      func(text string) error // parses, checks, stores
}

// environment returns the variable that sets the key: DROVER_HTTP_ADDRESS.
func (k key) environment() string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(k.name, ".", "_"))
}

// keys returns all keys, bound to the fields of c.
func (c *Config) keys() []key {
	return []key{
		{"http.address", "127.0.0.1:8090", "`host:port` for web app, API, HLS and metrics", address(&c.HTTP.Address)},
		{"http.read_header_timeout", "10s", "`duration` a client may take to send a request's header", duration(&c.HTTP.ReadHeaderTimeout, 100*time.Millisecond, 5*time.Minute)},
		{"http.write_timeout", "30s", "`duration` after which an answer that takes no byte is cut off", duration(&c.HTTP.WriteTimeout, time.Second, time.Hour)},
		{"http.idle_timeout", "2m", "`duration` a connection is kept open between two requests", duration(&c.HTTP.IdleTimeout, time.Second, time.Hour)},
		{"http.max_header_bytes", "32KiB", "largest header of a request, in `bytes`", smallSize(&c.HTTP.MaxHeaderBytes, 4<<10, 1<<20)},
		{"http.shutdown_grace", "3s", "`duration` for answers under way when the server stops", duration(&c.HTTP.ShutdownGrace, 0, time.Minute)},
		{"http.congestion_control", "", "`name` of the TCP congestion control; empty: the system's", congestionControl(&c.HTTP.CongestionControl)},
		{"http.max_connections", "0", "`number` of connections at once, at most; 0 for no limit", whole(&c.HTTP.MaxConnections, 0, 1e6)},
		{"http.max_connections_per_address", "0", "`number` of connections at once of one client address, at most; 0 for no limit", whole(&c.HTTP.MaxConnectionsPerAddress, 0, 1e6)},
		{"http.allowed_hosts", "", "`names` that the API may be asked by besides those of this machine, with commas in between", hosts(&c.HTTP.AllowedHosts)},
		{"http.tls.cert", "", "`file` with the certificate (PEM) to serve HTTPS with", optional(text(&c.HTTP.TLS.Cert))},
		{"http.tls.key", "", "`file` with the certificate's key (PEM)", optional(text(&c.HTTP.TLS.Key))},
		{"http.acme.domains", "", "`names` to get a certificate for by ACME, with commas in between", domains(&c.HTTP.ACME.Domains)},
		{"http.acme.email", "", "`address` that the authority may write to", optional(text(&c.HTTP.ACME.Email))},
		{"http.acme.directory", "https://acme-v02.api.letsencrypt.org/directory", "`URL` of the authority's ACME directory", httpsURL(&c.HTTP.ACME.Directory)},
		{"data.dir", "./data", "`directory` of the database", text(&c.Data.Dir)},
		{"log.level", "info", "`debug|info|warn|error`: the least that is logged", oneOf(&c.Log.Level, "debug", "info", "warn", "error")},
		{"log.format", "text", "`text|json`: format of the log", oneOf(&c.Log.Format, "text", "json")},
		{"auth.mode", "", "`mode` of login: empty, or none to serve everybody off loopback too", oneOf(&c.Auth.Mode, "", "none")},
		{"hls.segment_duration", "2s", "shortest `duration` of a segment; cut at keyframes only", duration(&c.HLS.SegmentDuration, 500*time.Millisecond, 30*time.Second)},
		{"hls.window", "5", "`number` of segments in the live playlist", whole(&c.HLS.Window, 3, 100)},
		{"hls.part_duration", "200ms", "about the `duration` of a part of low-latency HLS", duration(&c.HLS.PartDuration, 50*time.Millisecond, 500*time.Millisecond)},
		{"hls.on_demand", "false", "`true|false`: HLS of a camera is made only while somebody watches it", boolean(&c.HLS.OnDemand)},
		{"hls.kernel_bytes", "1GB", "most `bytes` of segments that many ask for, which the kernel sends by itself", size(&c.HLS.KernelBytes, 0, 1e12)},
		{"hls.max_viewers", "0", "`number` of viewers at once, at most; 0 for no limit", whole(&c.HLS.MaxViewers, 0, 1e6)},
		{"hls.max_camera_viewers", "0", "`number` of viewers of one camera at once, at most; 0 for no limit", whole(&c.HLS.MaxCameraViewers, 0, viewer.MaxLimit)},
		{"hls.max_bitrate", "0", "highest `bitrate` sent to all viewers, for example 2Gbps; 0 for no limit", bitrate(&c.HLS.MaxBitrate)},
		{"hls.max_camera_bitrate", "0", "highest `bitrate` sent of one camera, for example 500Mbps; 0 for no limit", bitrate(&c.HLS.MaxCameraBitrate)},
		{"ring.max_duration", "10s", "longest `duration` kept per source for consumers that start", duration(&c.Ring.MaxDuration, time.Second, 5*time.Minute)},
		{"ring.max_bytes", "32MB", "most `bytes` kept per source for consumers that start", size(&c.Ring.MaxBytes, 1e6, 4e9)},
		{"ring.subscriber_frames", "256", "`number` of frames that may wait for one consumer", whole(&c.Ring.SubscriberFrames, 8, 65536)},
		{"archive.dir", "", "`directory` of recordings; empty: archive below data.dir", optional(text(&c.Archive.Dir))},
		{"archive.write_buffer", "64MB", "most `bytes` of recordings that wait for the disk", size(&c.Archive.WriteBuffer, 8e6, 64e9)},
		{"archive.min_free", "", "`bytes` or percent of the disk that recordings leave free; empty: 5%, and 1GiB at least", optional(share(&c.Archive.MinFree))},
		{"archive.sync_interval", "2s", "`duration` in which recordings are safe from a power cut", duration(&c.Archive.SyncInterval, 100*time.Millisecond, time.Minute)},
		{"archive.time_shift", "24h", "`duration` that a viewer of the live picture can go back", duration(&c.Archive.TimeShift, time.Minute, 7*24*time.Hour)},
		{"archive.second_home.endpoint", "", "`URL` of the S3 store that recordings are copied to; empty: AWS", optional(storeURL(&c.Archive.SecondHome.Endpoint))},
		{"archive.second_home.region", "us-east-1", "`region` of the bucket", word(&c.Archive.SecondHome.Region)},
		{"archive.second_home.bucket", "", "`bucket` that recordings are copied to; empty: they are not", optional(word(&c.Archive.SecondHome.Bucket))},
		{"archive.second_home.prefix", "", "`text` that all names in the bucket begin with, ending in a slash", optional(prefix(&c.Archive.SecondHome.Prefix))},
		{"archive.second_home.access_key", "", "`key` that the store knows Drover by", optional(text(&c.Archive.SecondHome.AccessKey))},
		{"archive.second_home.secret_key", "", "its secret `key`, better given by DROVER_ARCHIVE_SECOND_HOME_SECRET_KEY_FILE", secretText(&c.Archive.SecondHome.SecretKey)},
		{"archive.second_home.path_style", "true", "`true|false`: the bucket is part of the path; else it is part of the host's name", boolean(&c.Archive.SecondHome.PathStyle)},
		{"archive.second_home.storage_class", "", "`class` of storage; empty: the bucket's own", optional(word(&c.Archive.SecondHome.StorageClass))},
		{"archive.second_home.object_minutes", "10", "`number` of minutes of a source that become one object", whole(&c.Archive.SecondHome.ObjectMinutes, 1, 1440)},
		{"archive.second_home.object_bytes", "256MiB", "most `bytes` of an object", size(&c.Archive.SecondHome.ObjectBytes, 1e6, 5<<30)},
		{"archive.second_home.verify", "head", "`sent|head|read`: how it is made sure that an object has arrived", oneOf(&c.Archive.SecondHome.Verify, "sent", "head", "read")},
		{"archive.second_home.bandwidth", "0", "highest `bitrate` sent, for example 20Mbps; 0 for no limit", bitrate(&c.Archive.SecondHome.Bandwidth)},
		{"archive.second_home.uploads", "2", "`number` of objects sent at once", whole(&c.Archive.SecondHome.Uploads, 1, 64)},
		{"archive.second_home.reads", "16", "`number` of ranges read for viewers at once", whole(&c.Archive.SecondHome.Reads, 1, 1024)},
		{"archive.second_home.max_age", "0", "`duration` after which what is in the bucket is deleted; 0: never", duration(&c.Archive.SecondHome.MaxAge, 0, 36500*day)},
		{"archive.second_home.max_bytes", "0", "most `bytes` in the bucket, the oldest go first; 0 for no limit", size(&c.Archive.SecondHome.MaxBytes, 0, 1<<53)},
		{"archive.second_home.keep_until_copied", "false", "`true|false`: only what has a copy is deleted on the disk by age and size", boolean(&c.Archive.SecondHome.KeepUntilCopied)},
		{"archive.second_home.redirect", "false", "`true|false`: players read from the store by signed URLs, and not through Drover", boolean(&c.Archive.SecondHome.Redirect)},
		{"ingest.dial_limit", "16", "`number` of cameras connected to at the same moment", whole(&c.Ingest.DialLimit, 1, 1024)},
		{"ingest.backoff_min", "1s", "shortest `duration` before a camera is tried again", duration(&c.Ingest.BackoffMin, 10*time.Millisecond, 10*time.Minute)},
		{"ingest.backoff_max", "60s", "longest `duration` before a camera is tried again", duration(&c.Ingest.BackoffMax, 10*time.Millisecond, time.Hour)},
		{"ingest.stall_timeout", "10s", "`duration` without a picture after which a camera counts as stalled", duration(&c.Ingest.StallTimeout, 100*time.Millisecond, 10*time.Minute)},
		{"ingest.audio_flac", "true", "`true|false`: telephone audio, which browsers refuse, is made into FLAC; else it is left out", boolean(&c.Ingest.AudioFLAC)},
		{"ingest.idle_after", "30s", "`duration` an on-demand camera is pulled after the last request for it", duration(&c.Ingest.IdleAfter, 5*time.Second, 24*time.Hour)},
		{"grpc.address", DefaultGRPCAddress, "`host:port` for AI workers by gRPC; empty: none", optional(address(&c.GRPC.Address))},
		{"ai.max_workers", "256", "`number` of AI workers at once, at most", whole(&c.AI.MaxWorkers, 1, 4096)},
		{"ai.socket", "", "`file` of the socket for AI workers on this machine; empty: tap.sock below data.dir; none: none", optional(text(&c.AI.Socket))},
		{"ai.shared_bytes", "64MB", "`bytes` of frames in the memory shared with workers that ask for the same", size(&c.AI.SharedBytes, 1e6, 4e9)},
		{"ai.shared_sets", "8", "`number` of such memories at once, at most", whole(&c.AI.SharedSets, 1, 256)},
		{"ai.detections_max_age", "7d", "`duration` that what AI workers see is kept", duration(&c.AI.DetectionsMaxAge, time.Minute, 10*365*24*time.Hour)},
		{"ai.detections_max_rows", "2000000", "`number` of detections that are kept, the newest", whole(&c.AI.DetectionsMaxRows, 1000, 1e9)},
		{"ai.events_max_age", "90d", "`duration` that the events are kept that rules find", duration(&c.AI.EventsMaxAge, time.Minute, 10*365*24*time.Hour)},
	}
}

func keyNames(keys []key) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return names
}

// sectionNames returns what may stand at the top of the file.
func sectionNames(keys []key) []string {
	names := []string{camerasSection}
	for _, k := range keys {
		section, _, _ := strings.Cut(k.name, ".")
		if names[len(names)-1] != section {
			names = append(names, section)
		}
	}
	return names
}
