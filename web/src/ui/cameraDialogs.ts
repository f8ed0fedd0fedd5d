import { removeCamera } from '../api/client'
import type { Camera } from '../api/types'
import type { CameraStore } from '../cameraStore'
import { cameraForm } from './cameraForm'
import { confirmDialog, openDialog } from './dialog'

/** The dialogs that change cameras, over whatever page is shown. */
export class CameraDialogs {
  constructor(private readonly store: CameraStore) {}

  add(): void {
    this.openForm('Add a camera', null)
  }

  edit(camera: Camera): void {
    const name = camera.name || camera.id
    this.openForm(camera.readOnly ? `Settings of ${name}` : `Edit ${name}`, camera)
  }

  remove(camera: Camera, onRemoved?: () => void): void {
    confirmDialog({
      title: `Remove ${camera.name || camera.id}?`,
      text: [
        'Drover disconnects from the camera, and everybody who watches it loses the picture. Its settings are deleted, and links to it that were given away stop working for good.',
        `What was recorded of it stays with its bookmarks until the disk needs the room. To see it again, add a camera with the id “${camera.id}”.`,
      ],
      action: 'Remove',
      onConfirm: async () => {
        await removeCamera(camera.id)
        this.store.refresh()
        onRemoved?.()
      },
    })
  }

  private openForm(title: string, camera: Camera | null): void {
    openDialog(title, 'camera-dialog', (close) => {
      const done = (): void => {
        close()
        this.store.refresh()
      }
      const taken = new Set(this.store.current.list?.map((other) => other.id))
      return cameraForm({ camera, taken, onDone: done, onCancel: close }).element
    })
  }
}
