import { advance, createWindow, type Window } from "./window.ts";

/** What is known of one key or one account: some 2 KB, whatever its limits. */
export interface CallerUsage {
  readonly window: Window;
  /** Admitted and not yet ended. */
  running: number;
}

/** The callers of the last minute by id. One that has nothing counted and nothing running is forgotten. */
export interface CallerTable {
  /** The caller, its window at `nowMs`; a new one when it is not known. */
  find(id: string, nowMs: number): CallerUsage;
  /** The same, but remembers nothing new. */
  peek(id: string, nowMs: number): CallerUsage;
  readonly size: number;
}

/** Each `find` looks at this many others: more than one, so that they go faster than they can come. */
const SWEPT_PER_FIND = 2;

export function createCallerTable(): CallerTable {
  const callers = new Map<string, CallerUsage>();
  let rest = callers.entries();

  function sweep(nowMs: number): void {
    for (let looked = 0; looked < SWEPT_PER_FIND; looked += 1) {
      const next = rest.next();
      if (next.done) {
        rest = callers.entries();
        return;
      }
      const [id, caller] = next.value;
      advance(caller.window, nowMs);
      if (caller.running === 0 && caller.window.requests === 0) callers.delete(id);
    }
  }

  function peek(id: string, nowMs: number): CallerUsage {
    const caller = callers.get(id);
    if (!caller) return { window: createWindow(), running: 0 };
    advance(caller.window, nowMs);
    return caller;
  }

  return {
    find(id, nowMs) {
      sweep(nowMs);
      const caller = peek(id, nowMs);
      callers.set(id, caller);
      return caller;
    },
    peek,
    get size() {
      return callers.size;
    },
  };
}
