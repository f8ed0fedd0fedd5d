import type { HlsConfig } from 'hls.js'

const shared: Partial<HlsConfig> = {
  // fMP4 goes to the decoder as it comes: a worker would only copy it about.
  enableWorker: false,
  lowLatencyMode: false,
  // No player here shows subtitles, captions or cues, and for each kind of them hls.js
  // makes a track of data:, which the pages' policy does not let it load.
  renderTextTracksNatively: false,
  enableCEA708Captions: false,
  enableDateRangeMetadataCues: false,
  enableEmsgMetadataCues: false,
  enableID3MetadataCues: false,
  // Half-lives of the bandwidth, in seconds of loading. A segment that comes quickly
  // loads for some milliseconds: by hls.js's own 3 and 9 seconds, what was measured
  // a quarter of an hour ago would outweigh what has become of the network.
  abrEwmaFastLive: 0.1,
  abrEwmaSlowLive: 0.5,
  // A source that failed once may be chosen again: by hls.js's own 0, never.
  errorPenaltyExpireMs: 15_000,
  // The player's own loop retries for ever; hls.js gives up early, so that the
  // loop hears of a restart of the server soon and asks for the playlist anew.
  playlistLoadPolicy: {
    default: {
      maxTimeToFirstByteMs: 10_000,
      maxLoadTimeMs: 20_000,
      timeoutRetry: { maxNumRetry: 1, retryDelayMs: 0, maxRetryDelayMs: 0 },
      errorRetry: { maxNumRetry: 2, retryDelayMs: 500, maxRetryDelayMs: 2_000 },
    },
  },
  fragLoadPolicy: {
    default: {
      maxTimeToFirstByteMs: 10_000,
      maxLoadTimeMs: 60_000,
      timeoutRetry: { maxNumRetry: 1, retryDelayMs: 0, maxRetryDelayMs: 0 },
      errorRetry: { maxNumRetry: 3, retryDelayMs: 500, maxRetryDelayMs: 2_000 },
    },
  },
}

/** For the one picture that somebody looks at: the best source first. */
export const watchConfig: Partial<HlsConfig> = {
  ...shared,
  backBufferLength: 10,
  maxBufferLength: 20,
  maxMaxBufferLength: 30,
  abrEwmaDefaultEstimate: 20_000_000,
}

/** The same as it happens, nearly. How fast it plays is for the LatencyKeeper. */
export const liveConfig: Partial<HlsConfig> = {
  ...watchConfig,
  lowLatencyMode: true,
  // Where playback begins: a little nearer than it will stay, for the first
  // picture takes a moment.
  liveSyncDuration: 0.4,
  liveSyncOnStallIncrease: 0.1,
  maxLiveSyncPlaybackRate: 1,
}

/** For the past: any of it, forward faster, and a little back without loading it again. */
export const archiveConfig: Partial<HlsConfig> = {
  ...shared,
  backBufferLength: 30,
  maxBufferLength: 20,
  maxMaxBufferLength: 120,
  maxLiveSyncPlaybackRate: 1,
}

/** For a tile: the smallest source, and next to no memory. */
export const previewConfig: Partial<HlsConfig> = {
  ...shared,
  backBufferLength: 0,
  maxBufferLength: 6,
  maxMaxBufferLength: 10,
  maxBufferSize: 4_000_000,
  capLevelToPlayerSize: true,
  startLevel: 0,
  startFragPrefetch: false,
}
