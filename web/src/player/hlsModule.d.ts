// The light build has no types of its own; it is the same class with less in it.
declare module 'hls.js/light' {
  export * from 'hls.js'
  export { default } from 'hls.js'
}
