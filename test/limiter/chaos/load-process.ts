// A process with a limiter like that of a gateway, and many callers. It executes the commands of its parent.
import { AsyncLocalStorage } from "node:async_hooks";
import { closeSync, openSync, writeSync } from "node:fs";
import { type Admission, type LimitDecline, LimiterError } from "../../../src/limiter/limiter.ts";
import { createRedisLimiter } from "../../../src/limiter/redis/limiter.ts";
import { connectRedis } from "../../../src/limiter/redis/server.ts";
import type { Answer, CallerSettings, Command, Line, Load, Report } from "./commands.ts";
import { startStallMeter } from "./stall-meter.ts";

const TALLY_EVERY_MS = 50;

const { location, onFailure, replicas, renewEveryMs }: CallerSettings = JSON.parse(process.argv[2] ?? "");
const stalls = startStallMeter();
/** Store that decided the current request. */
const currentStore = new AsyncLocalStorage<{ by: "redis" | "memory" | "none" }>();
const shared: Record<string, boolean[]> = {};
const logged: string[] = [];
const limiter = createRedisLimiter({
  connection: connectRedis(location),
  onFailure,
  replicas: () => replicas,
  log: { info: (_, event) => void logged.push(event), warn: (_, event) => void logged.push(event) },
  metrics: {
    shared(shard, isShared) {
      // The first value of a shard is not a change.
      if (shared[shard]) shared[shard].push(isShared);
      else shared[shard] = isShared ? [] : [false];
    },
    decided(store) {
      const current = currentStore.getStore();
      if (current) current.by = store;
    },
  },
  every(ms, task) {
    const timer = setInterval(task, renewEveryMs ?? ms);
    return () => clearInterval(timer);
  },
});
let end: (() => Promise<Report>) | undefined;

process.on("message", (command: Command) => void execute(command));
process.on("disconnect", () => process.exit());
await limiter.start();
send({ ready: true });

async function execute(command: Command): Promise<void> {
  if ("begin" in command) end = begin(command.begin);
  else if ("usage" in command) send({ usage: await usage(command.usage) });
  else if (end) send({ report: await end() });
}

function send(answer: Answer): void {
  process.send?.(answer);
}

async function usage(names: Pick<Load, "accountId" | "keyId">) {
  return limiter.usage({ ...names, keyLimits: {}, accountLimits: {} }).catch(() => undefined);
}

/** Starts a load. Returns the function that ends it. */
function begin(load: Load): () => Promise<Report> {
  const file = openSync(load.path, "a");
  const write = (line: Line) => writeSync(file, `${JSON.stringify(line)}\n`);
  const declined = { rate: 0, concurrency: 0, unavailable: 0 };
  const tally = { admitted: 0, sharedAtMs: 0, unsharedAtMs: 0 };
  const slowest = { ask: 0, end: 0 };
  const loggedBefore = logged.length;
  const sharedBefore = Object.fromEntries(Object.entries(shared).map(([shard, all]) => [shard, all.length]));
  let isEnding = false;

  async function call(): Promise<void> {
    while (!isEnding) {
      const current = { by: "none" as "redis" | "memory" | "none" };
      const requestedMs = Date.now();
      const decision = await timed(slowest, "ask", () => currentStore.run(current, () => ask(load)));
      const atMs = Date.now();
      tally[current.by === "redis" ? "sharedAtMs" : "unsharedAtMs"] = atMs;
      if (typeof decision === "string") declined[decision] += 1;
      else await hold(decision, { by: current.by === "redis" ? "redis" : "memory", requestedMs, atMs });
      await Bun.sleep(around(load.pauseMs));
    }
  }

  async function hold(admission: Admission, how: Omit<Extract<Line, { by: unknown }>, "id">): Promise<void> {
    tally.admitted += 1;
    const id = tally.admitted;
    write({ id, ...how });
    await Bun.sleep(around(load.holdMs));
    write({ id, endedMs: Date.now() });
    await timed(slowest, "end", () => admission.settle(0));
  }

  const calls = Array.from({ length: load.callers }, async () => {
    // Spreads the callers over time.
    await Bun.sleep(Math.random() * load.pauseMs);
    await call();
  });
  const reporting = setInterval(() => send({ tally }), TALLY_EVERY_MS);
  return async () => {
    isEnding = true;
    await Promise.all(calls);
    clearInterval(reporting);
    closeSync(file);
    const changes = Object.entries(shared).map(([shard, all]) => [
      shard,
      all.slice(sharedBefore[shard] ?? 0),
    ]);
    return {
      declined,
      slowestMs: slowest.ask,
      slowestEndMs: slowest.end,
      shared: Object.fromEntries(changes),
      logged: logged.slice(loggedBefore),
    };
  };
}

async function ask({ accountId, keyId, limits }: Load): Promise<Admission | keyof Report["declined"]> {
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
