import { createHash } from "node:crypto";
import type { Cluster, Redis } from "ioredis";
import { platform } from "../../platform.ts";
import admit from "./admit.lua" with { type: "text" };
import batch from "./batch.lua" with { type: "text" };
import caller from "./caller.lua" with { type: "text" };
import clock from "./clock.lua" with { type: "text" };
import leases from "./leases.lua" with { type: "text" };
import renew from "./renew.lua" with { type: "text" };
import restore from "./restore.lua" with { type: "text" };
import settle from "./settle.lua" with { type: "text" };
import usage from "./usage.lua" with { type: "text" };
import window from "./window.lua" with { type: "text" };

/** Scripts without their common part. */
const MAIN = { batch: [settle, renew, admit, batch].join("\n"), usage, restore };

type ScriptArgument = string | number;

/** Runs a script. The header of its `.lua` file documents the reply. */
type Script<Reply> = (keys: readonly string[], args: readonly ScriptArgument[]) => Promise<Reply>;

export interface Scripts {
  /** Returns one string, which costs both sides less than an array of numbers. */
  readonly batch: Script<Buffer>;
  readonly usage: Script<readonly number[]>;
  readonly restore: Script<readonly number[]>;
}

/** Lua source that defines `clock_ms()`, the time of a script, by the server's clock. */
export const REDIS_CLOCK = clock;

/** Returns the limiter's scripts for a server or a cluster. */
export function createScripts(client: Redis | Cluster, clockLua: string): Scripts {
  const sourceOf = (main: string) => [window, clockLua, leases, caller, main].join("\n");
  return {
    batch: createScript(sourceOf(MAIN.batch), {
      byHash: (sha, ...rest) => client.callBuffer("evalsha", sha, ...rest) as Promise<Buffer>,
      bySource: (lua, ...rest) => client.callBuffer("eval", lua, ...rest) as Promise<Buffer>,
    }),
    usage: createScript(sourceOf(MAIN.usage), {
      byHash: (sha, ...rest) => client.evalsha(sha, ...rest) as Promise<number[]>,
      bySource: (lua, ...rest) => client.eval(lua, ...rest) as Promise<number[]>,
    }),
    restore: sendSource(client, sourceOf(MAIN.restore)),
  };
}

/** Sends a script by its hash or source, the number of its keys, the keys and its arguments. */
type Send<Reply> = (script: string, keyCount: number, ...rest: ScriptArgument[]) => Promise<Reply>;

/** Sends the script's hash, and its source only where the server does not have it. */
function createScript<Reply>(
  lua: string,
  { byHash, bySource }: { readonly byHash: Send<Reply>; readonly bySource: Send<Reply> },
): Script<Reply> {
  const sha = createHash("sha1").update(lua).digest("hex");
  return async (keys, args) => {
    try {
      return await byHash(sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
      return await bySource(lua, keys.length, ...keys, ...args);
    }
  };
}

/**
 * Sends the source of a rare script whose place among other calls matters: a server without the script would
 * execute the calls that follow before it receives the source.
 */
function sendSource(client: Redis | Cluster, lua: string): Script<readonly number[]> {
  return async (keys, args) => (await client.eval(lua, keys.length, ...keys, ...args)) as number[];
}

/** Requests per script call. A larger call blocks the server for more than a millisecond. */
export const CHUNK_SIZE = 64;

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
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const expire = () => reject(new RedisTimeoutError("it did not answer in time"));
  // Two event-loop turns: the sockets are read between them.
  const timer = platform.setTimeout(() => platform.setImmediate(() => platform.setImmediate(expire)), ms);
  const take = (value: Reply) => {
    platform.clearTimeout(timer);
    resolve(value);
  };
  const fail = (fault: unknown) => {
    platform.clearTimeout(timer);
    reject(fault);
  };
  reply.then(take, fail);
  return promise;
}

/** Ids of a caller: a key and its account. */
export interface CallerIds {
  readonly accountId: string;
  readonly keyId: string;
}

/**
 * Version of the stored layout. It changes with the layout, so that old and new gateways do not misread each
 * other.
 */
const LAYOUT = 1;

/** Redis keys of the windows of a key and its account. */
export interface CallerWindows {
  readonly key: string;
  readonly account: string;
}

/** All keys of an account have one hash tag, so that a cluster keeps them on one node. */
export function windowsOf({ accountId, keyId }: CallerIds): CallerWindows {
  const account = accountKey(accountId);
  return { key: `${account}:key:${encode(keyId)}`, account };
}

/** Returns the windows of a probe on an account's server. Nothing in them counts for the account. */
export function probeWindowsOf({ accountId }: Pick<CallerIds, "accountId">): CallerWindows {
  const account = `${accountKey(accountId)}:probe`;
  return { key: `${account}:key`, account };
}

/** Returns the Redis key of the leases that belong to a window. */
export function leasesOf(window: string): string {
  return `${window}:leases`;
}

/** Returns the Redis keys of a caller: window and leases of its key, window and leases of its account. */
export function keysOf(ids: CallerIds): readonly string[] {
  const { key, account } = windowsOf(ids);
  return [key, leasesOf(key), account, leasesOf(account)];
}

/** Returns the Redis key of the recorded answer to a restoration of an account's counts. */
export function restoredKeyOf(accountId: string, restoration: string): string {
  return `${accountKey(accountId)}:restored:${restoration}`;
}

function accountKey(accountId: string): string {
  return `tollgate:${LAYOUT}:{${encode(accountId)}}`;
}

/** Keeps generated ids as they are, and escapes others: no id may collide with another caller's key. */
function encode(id: string): string {
  return /^[\w-]+$/.test(id) ? id : encodeURIComponent(id);
}
