import { getCamera } from '../api/client'
import { POLL_EVERY_MS } from '../config'
import { shortReason, spokenReason } from '../logic/stateText'
import { PlayerView } from './player'

/**
 * The bare player. While it has no picture it asks why, but not by a link, whose
 * holders may see the picture and nothing else.
 */
export function watchPage(cameraId: string, prefix: string): HTMLElement {
  const player = new PlayerView(cameraId, prefix)
  if (prefix === '') void explain(cameraId, player)
  return player.element
}

async function explain(cameraId: string, player: PlayerView): Promise<void> {
  let reason = ''
  let spoken = ''
  if (!player.isPlaying && !document.hidden) {
    try {
      const camera = await getCamera(cameraId)
      reason = shortReason(camera, Date.now())
      spoken = spokenReason(camera)
    } catch {
      // Not allowed, or not there: what the player says by itself is all there is to say.
    }
  }
  player.setCameraReason(reason, spoken)
  setTimeout(() => void explain(cameraId, player), POLL_EVERY_MS)
}
