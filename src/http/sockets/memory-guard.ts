import { platform } from "../../platform.ts";

/** The memory of this process. */
export interface ProcessMemory {
  residentBytes(): number;
  /** What the process may take: that of its container, or of the machine. */
  readonly bytesMax: number;
}

export function processMemory(): ProcessMemory {
  return { residentBytes: () => process.memoryUsage.rss(), bytesMax: process.constrainedMemory() };
}

/** A network of 10 Gbit/s brings a tenth of a small container's memory in this time. */
const LOOK_EVERY_MS = 100;
/** The part of the memory above which connections are closed. */
const SHARE_MAX = 0.9;

/**
 * Looks after the memory while WebSockets are open. Bun keeps a message that has not arrived whole, of up to 30 MiB;
 * it counts in no budget. Above nine tenths of the memory, `relieve` is called until it is below.
 */
export class MemoryGuard {
  readonly #memory: ProcessMemory;
  readonly #relieve: () => void;
  #timer: Timer | undefined;

  constructor(memory: ProcessMemory, relieve: () => void) {
    this.#memory = memory;
    this.#relieve = relieve;
  }

  start(): void {
    if (this.#timer || this.#memory.bytesMax <= 0) return;
    this.#timer = platform.setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  stop(): void {
    platform.clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const { bytesMax } = this.#memory;
    if (this.#memory.residentBytes() > bytesMax * SHARE_MAX) this.#relieve();
  }
}
