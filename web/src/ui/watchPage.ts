import { getCamera } from '../api/client'
import { POLL_EVERY_MS } from '../config'
import { stateReason } from '../logic/stateText'
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
  if (!player.isPlaying && !document.hidden) {
    try {
      reason = stateReason(await getCamera(cameraId), Date.now())
    } catch {
      // Not allowed, or not there: what the player says by itself is all there is to say.
    }
  }
  player.setCameraReason(reason)
  setTimeout(() => void explain(cameraId, player), POLL_EVERY_MS)
}
