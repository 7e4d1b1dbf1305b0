import { writeFileSync } from "node:fs";

/** A clock in a file that several processes have in memory: it stands still until one sets it. */
export interface SharedClock {
  nowMs: number;
}

export function createSharedClock(path: string, nowMs: number): SharedClock {
  writeFileSync(path, new Uint8Array(8));
  const clock = openSharedClock(path);
  clock.nowMs = nowMs;
  return clock;
}

export function openSharedClock(path: string): SharedClock {
  const { buffer, byteOffset } = Bun.mmap(path, { shared: true });
  const time = new Float64Array(buffer, byteOffset, 1);
  return {
    get nowMs() {
      return time[0] ?? 0;
    },
    set nowMs(ms) {
      time[0] = ms;
    },
  };
}
