import { setSystemTime } from "bun:test";
import { platform } from "../../src/platform.ts";

/** The time of every part of this process: it stands still until it is set, and goes forward only. */
export interface ScriptedClock {
  readonly nowMs: number;
  /** Lets the wall clock, and the clock that cannot be set, pass to a time. */
  passTo(ms: number): void;
  /** Gives the machine's own time back. */
  end(): void;
}

/** A pause of a part that has measured scripted hours must not last half of them. */
const SLEEP_MS_MAX = 20;

/** Takes the clocks of this process over. Must be called before a part keeps one of the platform's functions. */
export function startScriptedClock(startMs: number): ScriptedClock {
  const { monotonicMs, sleep } = platform;
  let nowMs = startMs;
  setSystemTime(startMs);
  platform.monotonicMs = () => monotonicMs() + (nowMs - startMs);
  platform.sleep = (ms) => sleep(Math.min(ms, SLEEP_MS_MAX));
  return {
    get nowMs() {
      return nowMs;
    },
    passTo(ms) {
      if (ms < nowMs) throw new Error("The scripted clock goes forward only");
      if (ms > nowMs) setSystemTime(ms);
      nowMs = ms;
    },
    end() {
      setSystemTime();
      Object.assign(platform, { monotonicMs, sleep });
    },
  };
}
