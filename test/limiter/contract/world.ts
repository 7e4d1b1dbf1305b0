import type { Admission, AdmissionRequest, Limiter, Limits, Refusal } from "../../../src/limiter/limiter.ts";
import { type AdmissionLog, createAdmissionLog, type Entry, sidesOf } from "./admission-log.ts";
import type { LimiterHarness } from "./harness.ts";
import { KEYS, type Step } from "./life.ts";

const LEASE_MS = 30_000;

export interface WorldOptions {
  readonly harness: LimiterHarness;
  readonly keyLimits: Limits;
  readonly accountLimits: Limits;
}

/** A limiter, true time, and the log of everything it admitted. Only replicas that live are asked. */
export function createWorld({ harness, keyLimits, accountLimits }: WorldOptions) {
  const { replicas } = harness;
  const names = crypto.randomUUID();
  const log: AdmissionLog = createAdmissionLog();
  const dead = new Set<number>();
  let trueMs = harness.nowMs();
  let setBackMs: number | undefined;

  /** The first replica from this one on that lives. */
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

  /** One of the running requests whose replica lives. */
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
    /** True time of the last step back of the clock, which every key has seen at once. */
    setBackAt: () => setBackMs,
    /** Slots taken of the key and of the account. */
    slots: (request: AdmissionRequest) =>
      sidesOf(request).map(({ who }) => log.of(who).filter(holdsSlot).length),
    ask: (request: AdmissionRequest, at: number): Promise<Admission | Refusal> =>
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

export type World = ReturnType<typeof createWorld>;

/** How admissions are made and judged; all other steps are the same for everybody. */
export interface Judge {
  admit(step: Extract<Step, { do: "admit" }>): Promise<void>;
  burst(step: Extract<Step, { do: "burst" }>): Promise<void>;
  /** After a step that changes what a key may do. */
  look(): Promise<void>;
}

export async function play(world: World, judge: Judge, life: readonly Step[]): Promise<void> {
  for (const step of life) {
    if (step.do === "admit") await judge.admit(step);
    else if (step.do === "burst") await judge.burst(step);
    else if (step.do === "wait") await world.wait(step.ms);
    else if (step.do === "setBack") await world.setBack(step.ms);
    else if (step.do === "settle") await world.settle(step.index, step.tokens);
    else if (step.do === "cancel") await world.cancel(step.index);
    else await world.kill(step.replica);
    await judge.look();
  }
}
