/** A map that forgets what was not used for longest. */
export class LRU<K, V> {
  private readonly map = new Map<K, V>()

  constructor(
    private readonly limit: number,
    private readonly onForget: (value: V) => void = () => {},
  ) {}

  get(key: K): V | undefined {
    const value = this.map.get(key)
    if (value !== undefined) {
      this.map.delete(key)
      this.map.set(key, value)
    }
    return value
  }

  /** Looks without that counting as use. */
  peek(key: K): V | undefined {
    return this.map.get(key)
  }

  set(key: K, value: V): void {
    const old = this.map.get(key)
    if (old !== undefined && old !== value) this.onForget(old)
    this.map.delete(key)
    this.map.set(key, value)
    for (const [oldest, forgotten] of this.map) {
      if (this.map.size <= this.limit) break
      this.map.delete(oldest)
      this.onForget(forgotten)
    }
  }

  clear(): void {
    for (const value of this.map.values()) this.onForget(value)
    this.map.clear()
  }

  /** The values, that used longest ago first. */
  values(): V[] {
    return [...this.map.values()]
  }

  get size(): number {
    return this.map.size
  }
}
