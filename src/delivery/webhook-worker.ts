import { createHmac } from "node:crypto";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { and, asc, eq, gt, isNotNull, lte, or, sql } from "drizzle-orm";
import { readSharedSecret } from "../accounts/shared-secret.ts";
import type { Database } from "../db/database.ts";
import { signBody } from "../domain/signature.ts";
import { platform } from "../platform.ts";
import type { Log } from "../telemetry/log.ts";
import {
  AHEAD_MS_MAX,
  type DeliveryOptions,
  type DeliveryQueue,
  type DueItem,
  startDeliveryWorker,
} from "./delivery-worker.ts";
import { findReceiver, hostOf } from "./webhook-address.ts";

/** Receivers may be slow, and a waiting call costs little. */
const CONCURRENT_MAX = 64;

interface QueuedCall extends DueItem {
  readonly url: string;
  readonly body: string;
  readonly ruleId: string;
}

interface WebhookWorkerOptions
  extends PostOptions,
    Pick<DeliveryOptions<QueuedCall>, "backoffMs" | "pollMs" | "now"> {
  readonly database: Database;
  readonly log: Log;
  /** Default: over a connection to the receiver. */
  readonly post?: PostWebhook | undefined;
}

/** Sends one call and resolves with the status of the answer. Rejects without one in time. */
export type PostWebhook = (post: WebhookPost, options: PostOptions) => Promise<number>;

/** Calls the webhooks of the database. A status from 200 to 299 is a delivery; any other is tried again. */
export function startWebhookWorker({ database, ...options }: WebhookWorkerOptions) {
  const { now = platform.now, timeoutMs = POST_MS_MAX, post = postWebhook } = options;
  return startDeliveryWorker({
    ...options,
    noun: "webhook",
    queue: createCallQueue(database, now),
    claimMs: 2 * timeoutMs + 10_000,
    concurrentMax: CONCURRENT_MAX,
    async deliver({ id, url, body, ruleId }) {
      const secret = await readWebhookSecret(database, ruleId);
      const headers = { "tollgate-delivery": id, "tollgate-signature": signBody(secret, body, now()) };
      const status = await post({ url, body, headers }, options).catch(async (fault) => {
        await keepStatus(database, id, null);
        throw fault;
      });
      await keepStatus(database, id, status);
      if (status < 200 || status > 299) throw new Error("The receiver refused");
      return true;
    },
  });
}

/**
 * Returns the secret that signs the webhooks of a rule: "whsec_" and 43 characters. It is derived from one
 * shared value, so that no secret of a rule is stored.
 */
export async function readWebhookSecret(database: Database, ruleId: string): Promise<string> {
  const shared = await readSharedSecret(database, "webhook_secret");
  return `whsec_${createHmac("sha256", shared).update(`notice_rule:${ruleId}`).digest("base64url")}`;
}

/** Keeps what the receiver answered last, for the list of deliveries. */
async function keepStatus(
  { transact, tables: { webhookCalls: calls } }: Database,
  id: string,
  lastStatus: number | null,
): Promise<void> {
  await transact(async (tx) => void (await tx.update(calls).set({ lastStatus }).where(eq(calls.id, id))));
}

function createCallQueue(
  { db, transact, tables: { notices, webhookCalls: calls } }: Database,
  now: () => number,
): DeliveryQueue<QueuedCall> {
  // Notices of the wallet and the keys first: those of end users and runs may be many.
  const order = sql`${notices.ofSubject}, ${calls.nextAtMs}`;
  const turn = sql`row_number() over (partition by ${notices.accountId} order by ${order})`;
  return {
    async due(nowMs, countMax) {
      const isDue = or(lte(calls.nextAtMs, nowMs), gt(calls.nextAtMs, nowMs + AHEAD_MS_MAX));
      const { id, attempts, url, body } = calls;
      const rows = await db
        .select({ id, attempts, url, body, ruleId: notices.ruleId, owner: notices.accountId })
        .from(calls)
        .innerJoin(notices, eq(notices.id, calls.noticeId))
        .where(and(isNotNull(calls.nextAtMs), isDue))
        .orderBy(asc(turn), asc(calls.nextAtMs))
        .limit(countMax);
      return rows.map((row) => ({ ...row, isUrgent: false }));
    },
    async claim({ id, attempts }, untilMs) {
      const isUnclaimed = and(eq(calls.id, id), eq(calls.attempts, attempts), isNotNull(calls.nextAtMs));
      const claim = { attempts: attempts + 1, nextAtMs: untilMs };
      const claimed = await transact((tx) =>
        tx.update(calls).set(claim).where(isUnclaimed).returning({ id: calls.id }),
      );
      return claimed.length > 0;
    },
    async end({ id, attempts }, end) {
      const nowMs = now();
      // A process that was frozen while it called must not end a later try of another one.
      const isWaiting = and(eq(calls.id, id), isNotNull(calls.nextAtMs), lte(calls.attempts, attempts + 1));
      const changes = {
        delivered: { nextAtMs: null, deliveredAtMs: nowMs },
        failed: { nextAtMs: null, failedAtMs: nowMs },
        again: { nextAtMs: end.kind === "again" ? end.atMs : null },
      };
      await transact(async (tx) => void (await tx.update(calls).set(changes[end.kind]).where(isWaiting)));
    },
  };
}

interface WebhookPost {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface PostOptions {
  readonly allowsLoopback: boolean;
  /** For the whole call, the look-up included. Default: 10 s. */
  readonly timeoutMs?: number | undefined;
  /** PEM certificates to trust in place of the system's, for tests. */
  readonly ca?: string | undefined;
}

const POST_MS_MAX = 10_000;
/** Status line and headers of an answer; nothing after them is read. */
const HEAD_BYTES_MAX = 16_384;

/**
 * Sends one POST over a connection of its own to the address that was checked, and resolves with the status.
 * Follows no redirect, and reads no body. Rejects without a status in time.
 */
export async function postWebhook(post: WebhookPost, options: PostOptions): Promise<number> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  let socket: Socket | undefined;
  const timer = platform.setTimeout(
    () => reject(new Error("The receiver took too long")),
    options.timeoutMs ?? POST_MS_MAX,
  );
  const send = async () => {
    const url = new URL(post.url);
    const address = await Promise.race([findReceiver(url, options), late]);
    socket = open(url, address, options);
    return Promise.race([exchange(socket, url, printRequest(url, post)), late]);
  };
  try {
    return await send();
  } finally {
    platform.clearTimeout(timer);
    socket?.destroy();
  }
}

function open(url: URL, address: string, { ca }: PostOptions): Socket {
  const isEncrypted = url.protocol === "https:";
  const port = Number(url.port) || (isEncrypted ? 443 : 80);
  if (!isEncrypted) return connectTcp({ host: address, port });
  const host = hostOf(url);
  return connectTls({
    host: address,
    port,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
    ALPNProtocols: ["http/1.1"],
  });
}

function printRequest({ pathname, search, host }: URL, { body, headers }: WebhookPost): string {
  const all = {
    host,
    "user-agent": "Tollgate-Webhook/1",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${pathname}${search} HTTP/1.1`, ...lines, "", body].join("\r\n");
}

/** Writes the request when the connection stands, certificate checked, and resolves with the final status. */
function exchange(socket: Socket, url: URL, request: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let head = "";
  const ready = url.protocol === "https:" ? "secureConnect" : "connect";
  socket.once(ready, () => socket.write(request));
  socket.on("error", reject);
  socket.once("close", () => reject(new Error("The receiver closed the connection")));
  socket.on("data", (chunk: Buffer) => {
    head += chunk.toString("latin1");
    const status = readStatus(head);
    if (typeof status === "number") resolve(status);
    else if (status === "none" || head.length > HEAD_BYTES_MAX)
      reject(new Error("The receiver sent no status"));
  });
  return promise;
}

/** Reads the status of an answer whose headers are complete. Passes over interim answers such as 100. */
function readStatus(head: string): number | "incomplete" | "none" {
  let rest = head;
  for (;;) {
    const end = rest.indexOf("\r\n\r\n");
    if (end === -1) return "incomplete";
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |\r\n)/.exec(rest)?.[1]);
    if (!status) return "none";
    if (status >= 200) return status;
    rest = rest.slice(end + 4);
  }
}
