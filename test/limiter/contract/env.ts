import type {
  Admission,
  AdmissionRequest,
  LimitDecline,
  Limiter,
  Limits,
} from "../../../src/limiter/limiter.ts";
import { type AdmissionLog, createAdmissionLog, type Entry, sidesOf } from "./admission-log.ts";
import type { LimiterHarness } from "./harness.ts";
import { KEYS, type Step } from "./history.ts";

const LEASE_MS = 30_000;

export interface EnvOptions {
  readonly harness: LimiterHarness;
  readonly keyLimits: Limits;
  readonly accountLimits: Limits;
}

/** Returns a limiter with true time and the log of its admissions. Only living replicas are used. */
export function createEnv({ harness, keyLimits, accountLimits }: EnvOptions) {
  const { replicas } = harness;
  const names = crypto.randomUUID();
  const log: AdmissionLog = createAdmissionLog();
  const dead = new Set<number>();
  let trueMs = harness.nowMs();
  let setBackMs: number | undefined;

  /** Returns the first living replica from this index on. */
  function living(index: number): number {
    const from = index % replicas.length;
    return dead.has(from) ? living(from + 1) : from;
  }

  function limiterAt(index: number): Limiter {
    const limiter = replicas[living(index)];
    if (!limiter) throw new Error("there is no replica");
    return limiter;
  }

  function requestOf(index: number, tokens: number): AdmissionRequest {
    const { key, account } = KEYS[index] ?? KEYS[0];
    return { keyId: `${key}-${names}`, accountId: `${account}-${names}`, keyLimits, accountLimits, tokens };
  }

  function holdsSlot(entry: Entry): boolean {
    if (entry.state !== "running") return false;
    if (!dead.has(entry.replica)) return true;
    return trueMs < Math.max(entry.atMs, harness.renewedAtMs(entry.replica) ?? 0) + LEASE_MS;
  }

  function record({ keyId, accountId, tokens }: AdmissionRequest, at: number, admission: Admission): void {
    const replica = living(at);
    log.entries.push({ keyId, accountId, replica, atMs: trueMs, admission, tokens, state: "running" });
  }

  /** Returns one of the running requests of living replicas. */
  function running(index: number): Entry | undefined {
    const entries = log.entries.filter((entry) => entry.state === "running" && !dead.has(entry.replica));
    return entries[index % entries.length];
  }

  async function settle(index: number, tokens: number): Promise<void> {
    const entry = running(index);
    if (!entry) return;
    Object.assign(entry, { state: "settled", tokens });
    await entry.admission.settle(tokens);
  }

  return {
    log,
    requestOf,
    record,
    settle,
    now: () => trueMs,
    /** Returns the true time at which the clock was last set back; every key was used since. */
    setBackAt: () => setBackMs,
    /** Returns the taken slots of the key and of the account. */
    slots: (request: AdmissionRequest) =>
      sidesOf(request).map(({ subject }) => log.of(subject).filter(holdsSlot).length),
    ask: (request: AdmissionRequest, at: number): Promise<Admission | LimitDecline> =>
      limiterAt(at).admit(request),
    usages: () => Promise.all(KEYS.map((_, key) => limiterAt(key).usage(requestOf(key, 0)))),
    hasRunning: () => running(0) !== undefined,
    async cancel(index: number): Promise<void> {
      const entry = running(index);
      if (!entry) return;
      Object.assign(entry, { state: "cancelled", tokens: 0 });
      await entry.admission.cancel();
    },
    async wait(ms: number): Promise<void> {
      await harness.advance(ms);
      trueMs += ms;
    },
    async setBack(ms: number): Promise<void> {
      await harness.setClock(-ms);
      setBackMs = trueMs;
    },
    async kill(index: number): Promise<void> {
      if (dead.size === replicas.length - 1) return;
      const replica = living(index);
      await harness.kill(replica);
      dead.add(replica);
    },
  };
}

export type Env = ReturnType<typeof createEnv>;

/** Makes the admissions of a history and checks their results. */
export interface Checker {
  admit(step: Extract<Step, { do: "admit" }>): Promise<void>;
  burst(step: Extract<Step, { do: "burst" }>): Promise<void>;
  /** Checks the usage of every key after a step. */
  look(): Promise<void>;
}

export async function play(env: Env, checker: Checker, history: readonly Step[]): Promise<void> {
  for (const step of history) {
    if (step.do === "admit") await checker.admit(step);
    else if (step.do === "burst") await checker.burst(step);
    else if (step.do === "wait") await env.wait(step.ms);
    else if (step.do === "setBack") await env.setBack(step.ms);
    else if (step.do === "settle") await env.settle(step.index, step.tokens);
    else if (step.do === "cancel") await env.cancel(step.index);
    else await env.kill(step.replica);
    await checker.look();
  }
}
