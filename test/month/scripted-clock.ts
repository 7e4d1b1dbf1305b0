import { setSystemTime } from "bun:test";
import { platform } from "../../src/platform.ts";

/** The time of every part of this process: it stands still until it is set, and goes forward only. */
export interface ScriptedClock {
  readonly nowMs: number;
  /** Lets the wall clock, and the clock that cannot be set, pass to a time. Resolves when the followers have it. */
  passTo(ms: number): Promise<void>;
  /** Lets another clock, such as that of a database, go where this one goes. */
  follow(passTo: (ms: number) => Promise<void>): Promise<void>;
  /** Gives the machine's own time back. */
  end(): void;
}

/** A pause of a part that has measured scripted hours must not last half of them. */
const SLEEP_MS_MAX = 20;

/** Takes the clocks of this process over. Must be called before a part keeps one of the platform's functions. */
export function startScriptedClock(startMs: number): ScriptedClock {
  const { monotonicMs, sleep } = platform;
  const followers: ((ms: number) => Promise<void>)[] = [];
  let nowMs = startMs;
  let followed: Promise<unknown> = Promise.resolve();
  setSystemTime(startMs);
  platform.monotonicMs = () => monotonicMs() + (nowMs - startMs);
  platform.sleep = (ms) => sleep(Math.min(ms, SLEEP_MS_MAX));
  return {
    get nowMs() {
      return nowMs;
    },
    async passTo(ms) {
      if (ms < nowMs) throw new Error("The scripted clock goes forward only");
      if (ms > nowMs) {
        setSystemTime(ms);
        nowMs = ms;
        followed = Promise.all(followers.map((passTo) => passTo(ms)));
      }
      await followed;
    },
    async follow(passTo) {
      followers.push(passTo);
      await passTo(nowMs);
    },
    end() {
      setSystemTime();
      Object.assign(platform, { monotonicMs, sleep });
    },
  };
}
