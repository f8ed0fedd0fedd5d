// The numbers of the app. Times are in milliseconds unless the name says otherwise.

/** How often the state of the cameras is asked for. */
export const POLL_EVERY_MS = 2_000

/** How long one request to the API may take. A probe waits for a camera. */
export const API_TIMEOUT_MS = 10_000
export const PROBE_TIMEOUT_MS = 45_000

/**
 * Pictures that play at once in the grid. One 720p picture costs a browser
 * about a third of a core, and a phone's decoder has few instances.
 */
export const MAX_PREVIEWS = 9
export const MAX_PREVIEWS_ON_PHONES = 4

/** How a poll of the API, and a player, wait after failures. */
export const POLL_BACKOFF = { firstMs: 2_000, maxMs: 15_000 }
export const PLAYER_BACKOFF = { firstMs: 1_000, maxMs: 15_000 }

/** A playlist that is not answered by then counts as a failure. */
export const PLAYLIST_TIMEOUT_MS = 10_000

/** How often a player that found nothing playable looks again: the camera may have been changed. */
export const UNSUPPORTED_RETRY_MS = 30_000

/**
 * What a low-latency player should have in front of it when it has least: enough
 * for the network of a house. It learns where that is too little.
 */
export const LATENCY_MARGIN_MS = 200

/** How often a low-latency player looks at what it has in front of it. */
export const LATENCY_CHECK_MS = 50

/** A player this far behind its target is taken to live by itself. */
export const MAX_BEHIND_TARGET_MS = 8_000

/** The decoder gets segments, but the picture does not move: the player needs help. */
export const STUCK_AFTER_MS = 8_000

/** There are new segments, but none reaches the decoder. A slow network looks alike, so this is patient. */
export const STARVED_AFTER_MS = 30_000

/** A player that has played this long has recovered from whatever was. */
export const HEALTHY_AFTER_MS = 30_000

/** How long a view of the archive must stay before the server is asked about it. */
export const RECORDINGS_DEBOUNCE_MS = 120

/** Pieces of the archive's time line that are remembered; each is 1,200 steps at most. */
export const RECORDINGS_KEPT = 48

/** How often the piece that holds the present is asked for anew, and the others. */
export const RECORDINGS_LIVE_MS = 5_000
export const RECORDINGS_STALE_MS = 120_000

/** Pictures of scrubbing that are remembered. */
export const SCRUB_PICTURES_KEPT = 60
