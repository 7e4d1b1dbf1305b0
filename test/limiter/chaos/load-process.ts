// A process that has a limiter as a gateway has it, and many callers, which do what the parent says.
import { AsyncLocalStorage } from "node:async_hooks";
import { closeSync, openSync, writeSync } from "node:fs";
import { type Admission, type LimitDecline, LimiterError } from "../../../src/limiter/limiter.ts";
import { connectRedis } from "../../../src/limiter/redis/connection.ts";
import { createRedisLimiter } from "../../../src/limiter/redis/limiter.ts";
import type { Answer, CallerSettings, Command, Line, Load, Report } from "./commands.ts";
import { startStallMeter } from "./stall-meter.ts";

const TALLY_EVERY_MS = 50;

const { location, onFailure, replicas, renewEveryMs }: CallerSettings = JSON.parse(process.argv[2] ?? "");
const stalls = startStallMeter();
/** Who decides what is asked in it. */
const asking = new AsyncLocalStorage<{ by: "redis" | "memory" | "none" }>();
const shared: Record<string, boolean[]> = {};
const logged: string[] = [];
const limiter = createRedisLimiter({
  connection: connectRedis(location),
  onFailure,
  replicas,
  log: { info: (_, event) => void logged.push(event), warn: (_, event) => void logged.push(event) },
  metrics: {
    shared(shard, isShared) {
      // What is said of it when it is first heard of is no change.
      if (shared[shard]) shared[shard].push(isShared);
      else shared[shard] = isShared ? [] : [false];
    },
    decided(store) {
      const asked = asking.getStore();
      if (asked) asked.by = store;
    },
  },
  every(ms, task) {
    const timer = setInterval(task, renewEveryMs ?? ms);
    return () => clearInterval(timer);
  },
});
let end: (() => Promise<Report>) | undefined;

process.on("message", (send: Command) => void execute(send));
process.on("disconnect", () => process.exit());
await limiter.start();
say({ ready: true });

async function execute(send: Command): Promise<void> {
  if ("begin" in send) end = begin(send.begin);
  else if ("usage" in send) say({ usage: await usage(send.usage) });
  else if (end) say({ report: await end() });
}

function say(answer: Answer): void {
  process.send?.(answer);
}

async function usage(names: Pick<Load, "accountId" | "keyId">) {
  return limiter.usage({ ...names, keyLimits: {}, accountLimits: {} }).catch(() => undefined);
}

/** Returns what ends it. */
function begin(load: Load): () => Promise<Report> {
  const file = openSync(load.path, "a");
  const note = (line: Line) => writeSync(file, `${JSON.stringify(line)}\n`);
  const refused = { rate: 0, concurrency: 0, unavailable: 0 };
  const tally = { admitted: 0, sharedAtMs: 0, unsharedAtMs: 0 };
  const slowest = { ask: 0, end: 0 };
  const loggedBefore = logged.length;
  const sharedBefore = Object.fromEntries(Object.entries(shared).map(([shard, all]) => [shard, all.length]));
  let isEnding = false;

  async function call(): Promise<void> {
    while (!isEnding) {
      const asked = { by: "none" as "redis" | "memory" | "none" };
      const askedMs = Date.now();
      const decision = await timed(slowest, "ask", () => asking.run(asked, () => ask(load)));
      const atMs = Date.now();
      tally[asked.by === "redis" ? "sharedAtMs" : "unsharedAtMs"] = atMs;
      if (typeof decision === "string") refused[decision] += 1;
      else await hold(decision, { by: asked.by === "redis" ? "redis" : "memory", askedMs, atMs });
      await Bun.sleep(around(load.pauseMs));
    }
  }

  async function hold(admission: Admission, how: Omit<Extract<Line, { by: unknown }>, "id">): Promise<void> {
    tally.admitted += 1;
    const id = tally.admitted;
    note({ id, ...how });
    await Bun.sleep(around(load.holdMs));
    note({ id, endedMs: Date.now() });
    await timed(slowest, "end", () => admission.settle(0));
  }

  const calls = Array.from({ length: load.callers }, async () => {
    // So that they do not all come in one turn again and again.
    await Bun.sleep(Math.random() * load.pauseMs);
    await call();
  });
  const telling = setInterval(() => say({ tally }), TALLY_EVERY_MS);
  return async () => {
    isEnding = true;
    await Promise.all(calls);
    clearInterval(telling);
    closeSync(file);
    const changes = Object.entries(shared).map(([shard, all]) => [
      shard,
      all.slice(sharedBefore[shard] ?? 0),
    ]);
    return {
      refused,
      slowestMs: slowest.ask,
      slowestEndMs: slowest.end,
      shared: Object.fromEntries(changes),
      logged: logged.slice(loggedBefore),
    };
  };
}

async function ask({ accountId, keyId, limits }: Load): Promise<Admission | keyof Report["refused"]> {
  const request = { accountId, keyId, keyLimits: limits, accountLimits: {}, tokens: 0 };
  try {
    const decision: Admission | LimitDecline = await limiter.admit(request);
    return decision.admitted ? decision : decision.bound;
  } catch (error) {
    if (error instanceof LimiterError) return "unavailable";
    throw error;
  }
}

async function timed<Result>(
  slowest: Record<"ask" | "end", number>,
  what: "ask" | "end",
  work: () => Promise<Result>,
): Promise<Result> {
  const [startedMs, stalledMs] = [performance.now(), stalls.stalledMs()];
  const result = await work();
  const ms = performance.now() - startedMs - (stalls.stalledMs() - stalledMs);
  slowest[what] = Math.max(slowest[what], ms);
  return result;
}

function around(meanMs: number): number {
  return meanMs * (0.5 + Math.random());
}
