import { createHash } from "node:crypto";
import type { Cluster, Redis } from "ioredis";
import admit from "./admit.lua" with { type: "text" };
import caller from "./caller.lua" with { type: "text" };
import clock from "./clock.lua" with { type: "text" };
import leases from "./leases.lua" with { type: "text" };
import renew from "./renew.lua" with { type: "text" };
import restore from "./restore.lua" with { type: "text" };
import settle from "./settle.lua" with { type: "text" };
import usage from "./usage.lua" with { type: "text" };
import window from "./window.lua" with { type: "text" };

const MAIN = { admit, settle, renew, usage, restore };

export type ScriptArgument = string | number;

/** Runs a script. The header of its `.lua` file documents the reply. */
export type Script = (keys: readonly string[], args: readonly ScriptArgument[]) => Promise<readonly number[]>;

/** Lua source that defines `clock_ms()`, the time of a script, by the server's clock. */
export const REDIS_CLOCK = clock;

/** Returns the limiter's scripts for a server or a cluster. */
export function createScripts(
  client: Redis | Cluster,
  clockLua: string,
): Readonly<Record<keyof typeof MAIN, Script>> {
  const of = (main: string) => createScript(client, [window, clockLua, leases, caller, main].join("\n"));
  return {
    admit: of(MAIN.admit),
    settle: of(MAIN.settle),
    renew: of(MAIN.renew),
    usage: of(MAIN.usage),
    restore: of(MAIN.restore),
  };
}

/** Sends the script's hash, and its source only where the server does not have it. */
function createScript(client: Redis | Cluster, lua: string): Script {
  const sha = createHash("sha1").update(lua).digest("hex");
  return async (keys, args) => {
    try {
      return (await client.evalsha(sha, keys.length, ...keys, ...args)) as number[];
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
      return (await client.eval(lua, keys.length, ...keys, ...args)) as number[];
    }
  };
}

/** Requests per script call. A larger call blocks the server for more than a millisecond. */
export const CHUNK_SIZE = 64;

/** One request to a script that takes many: its share of keys and arguments. */
export interface ScriptRequest {
  /** Only requests of one group share a call. In a cluster, a group is an account. */
  readonly group: string;
  readonly keys: readonly string[];
  readonly args: readonly ScriptArgument[];
}

interface PendingRequest extends ScriptRequest {
  resolve(reply: readonly number[]): void;
  reject(fault: unknown): void;
}

/**
 * Runs a script once for all requests of one event-loop turn, {@link CHUNK_SIZE} at most. A busy caller is
 * then loaded and saved once for all of them. The reply has `replyLength` numbers for each request, in order.
 */
export function createScriptBatches(
  script: Script,
  replyLength: number,
): (request: ScriptRequest) => Promise<readonly number[]> {
  const pending = new Map<string, PendingRequest[]>();
  const send = (batch: readonly PendingRequest[]) => void runBatch(script, replyLength, batch);

  function flush(): void {
    const batches = [...pending.values()];
    pending.clear();
    for (const batch of batches) send(batch);
  }

  return (request) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>();
    const batch = pending.get(request.group) ?? [];
    if (pending.size === 0) setImmediate(flush);
    pending.set(request.group, batch);
    // A full batch is sent at once: Redis works on it during the rest of this turn.
    if (batch.push({ ...request, resolve, reject }) === CHUNK_SIZE) {
      pending.delete(request.group);
      send(batch);
    }
    return promise;
  };
}

async function runBatch(
  script: Script,
  replyLength: number,
  batch: readonly PendingRequest[],
): Promise<void> {
  try {
    const reply = await script(
      batch.flatMap(({ keys }) => keys),
      batch.flatMap(({ args }) => args),
    );
    checkReply(reply, replyLength * batch.length);
    batch.forEach(({ resolve }, index) => {
      resolve(reply.slice(index * replyLength, (index + 1) * replyLength));
    });
  } catch (fault) {
    for (const { reject } of batch) reject(fault);
  }
}

/** Throws TypeError: a malformed reply must not admit a request. */
function checkReply(reply: readonly number[], length: number): void {
  if (!Array.isArray(reply) || reply.length !== length || !reply.every(Number.isInteger)) {
    throw new TypeError("Redis returned a malformed script reply");
  }
}

/**
 * Runs `act` for each element, {@link CHUNK_SIZE} at a time: all at once would delay requests that arrive
 * meanwhile. Rejects with the first fault and skips the remaining chunks.
 */
export async function chunked<Each>(all: readonly Each[], act: (each: Each) => Promise<void>): Promise<void> {
  for (let start = 0; start < all.length; start += CHUNK_SIZE) {
    await Promise.all(all.slice(start, start + CHUNK_SIZE).map(act));
  }
}

/** Redis did not answer in time. */
export class RedisTimeoutError extends Error {
  override readonly name = "RedisTimeoutError";
}

/**
 * Rejects with {@link RedisTimeoutError} when the reply takes longer than `ms`. A reply that arrived during a
 * stall of this process is in time.
 */
export function withTimeout<Reply>(ms: number, reply: Promise<Reply>): Promise<Reply> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const expire = () => reject(new RedisTimeoutError("it did not answer in time"));
  // Two event-loop turns: the sockets are read between them.
  const timer = setTimeout(() => setImmediate(() => setImmediate(expire)), ms);
  return Promise.race([reply, timeout]).finally(() => clearTimeout(timer));
}
