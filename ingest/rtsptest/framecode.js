// The number that simulated cameras burn into their pictures (see make-clips.sh):
// 16 cells along the top edge, a fifteenth of the picture high.
//
//   cell 0 white | 1 black | 2..13 number, highest bit first | 14 parity | 15 white
//
// The number runs from 0 to 199 and begins again, 25 a second.

// readFrameCode returns the number in a <video>'s present picture, or null if
// there is none to read. It needs nothing around it, so that it can be handed to a
// page as text.
export function readFrameCode(video) {
  const width = video.videoWidth;
  const height = video.videoHeight;
  if (!width || !height || video.readyState < 2) return null;

  // One line through the middle of the row, as it is, and of each cell its centre.
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = 1;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  const y = Math.floor(height / 30);
  context.drawImage(video, 0, y, width, 1, 0, 0, width, 1);
  const pixels = context.getImageData(0, 0, width, 1).data;

  const cells = [];
  for (let i = 0; i < 16; i++) {
    const at = 4 * Math.floor((i + 0.5) * (width / 16));
    const brightness = (pixels[at] + pixels[at + 1] + pixels[at + 2]) / 3;
    if (brightness > 80 && brightness < 175) return null;
    cells.push(brightness >= 175 ? 1 : 0);
  }
  const bits = cells.slice(2, 14);
  const parity = bits.reduce((sum, bit) => sum ^ bit, 0);
  if (cells[0] !== 1 || cells[1] !== 0 || cells[14] !== parity || cells[15] !== 1) return null;
  return bits.reduce((number, bit) => number * 2 + bit, 0);
}
