// A transparent canvas as large as the window.
export interface Sheet {
  readonly canvas: HTMLCanvasElement
  readonly context: CanvasRenderingContext2D
}

export function createSheet(): Sheet {
  const canvas = document.createElement('canvas')
  const context = canvas.getContext('2d')
  if (!context) throw new Error('no 2d context')
  canvas.style.cssText = 'position:absolute;left:0;top:0;pointer-events:none'
  return { canvas, context }
}
