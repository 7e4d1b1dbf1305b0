import type { Actor } from "../../../accounts/audit-trail.ts";
import { findRole } from "../../../accounts/people/members.ts";
import { timeOf } from "../../../domain/id-time.ts";
import { GatewayError } from "../../../errors.ts";
import type { Receipt } from "../../../ledger/records.ts";
import { describeFault } from "../../../telemetry/log.ts";
import type { PartsOf } from "../console-parts.ts";
import { isHeldBack } from "../guard.ts";
import { PERMISSIONS } from "../permissions.ts";
import { printRequestRows } from "./print.ts";
import type { RequestRow } from "./shapes.ts";

type Parts = PartsOf<"ledger" | "stopping" | "log">;

const POLL_MS = 2_000;
/** Interval of comments, which keep proxies from closing a stream, and of the check of its session. */
const COMMENT_MS = 15_000;
const ROWS_MAX = 50;
/** Rows that are read while a request runs that {@link ROWS_MAX} newer ones have pushed out. */
const RUNNING_ROWS_MAX = 200;
const STREAMS_PER_SESSION = 4;
/** Events that a slow reader may have waiting. It misses later ones, and then gets all rows again. */
const WAITING_MAX = 8;

/** Who opens a stream. */
interface Viewer {
  readonly accountId: string;
  readonly actor: Actor;
  readonly address: string | undefined;
  /** The request as Bun received it. */
  readonly received: Request;
}

/** The live lists of requests: one poll per account, shared by all of its streams in this process. */
export interface LiveRequests {
  /** Opens a stream of server-sent events. Throws `too_concurrent` above 4 streams of one session. */
  open(viewer: Viewer): Response;
}

export function createLiveRequests(parts: Parts): LiveRequests {
  const feeds = new Map<string, AccountFeed>();
  const counts = new Map<string, number>();
  return {
    open(viewer) {
      const { accountId, actor } = viewer;
      const session = actor.session?.id ?? actor.id;
      const count = counts.get(session) ?? 0;
      if (count >= STREAMS_PER_SESSION) throw new GatewayError("too_concurrent", { retryAfterS: 15 });
      counts.set(session, count + 1);
      const feed = feeds.get(accountId) ?? new AccountFeed(parts, accountId);
      feeds.set(accountId, feed);
      const stream = new LiveStream(parts, viewer, () => {
        const left = (counts.get(session) ?? 1) - 1;
        if (left > 0) counts.set(session, left);
        else counts.delete(session);
        if (feed.leave(stream) === 0 && feeds.get(accountId) === feed) feeds.delete(accountId);
      });
      feed.join(stream);
      return stream.response;
    },
  };
}

/** Polls the newest requests of one account while a stream is open. */
class AccountFeed {
  readonly #parts: Parts;
  readonly #accountId: string;
  readonly #streams = new Set<LiveStream>();
  /** The rows of the latest poll and their states, by id. */
  #states = new Map<string, string>();
  #rows: readonly RequestRow[] | undefined;
  /** The newest request that was read, and how many came after the first poll, also those that no event had. */
  #newest: Receipt | undefined;
  #arrived = 0;
  #timer: Timer | undefined;
  #isPolling = false;

  constructor(parts: Parts, accountId: string) {
    this.#parts = parts;
    this.#accountId = accountId;
  }

  join(stream: LiveStream): void {
    this.#streams.add(stream);
    if (this.#rows) stream.send(this.#rows, this.#arrived);
    if (this.#timer === undefined && !this.#isPolling) void this.#poll();
  }

  /** Returns how many streams are left. */
  leave(stream: LiveStream): number {
    this.#streams.delete(stream);
    if (this.#streams.size === 0) clearTimeout(this.#timer);
    return this.#streams.size;
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    this.#timer = undefined;
    try {
      await this.#read();
    } catch (fault) {
      this.#parts.log.warn(describeFault(fault), "live requests not read");
    }
    this.#isPolling = false;
    if (this.#streams.size > 0) this.#timer = setTimeout(() => void this.#poll(), POLL_MS).unref();
  }

  async #read(): Promise<void> {
    const { database } = this.#parts;
    const items = await this.#readNewest();
    this.#arrived += await this.#countArrived(items);
    this.#newest = items[0] ?? this.#newest;
    const changed = new Set(items.filter((each) => this.#states.get(each.holdId) !== stateOf(each)));
    const isFirst = this.#rows === undefined;
    if (changed.size === 0 && !isFirst) return this.#catchUp();
    const rows = await printRequestRows(database, this.#accountId, items);
    const changedIds = new Set([...changed].map(({ holdId }) => holdId));
    this.#states = new Map(items.map((each) => [each.holdId, stateOf(each)]));
    this.#rows = rows;
    const news = rows.filter(({ id }) => changedIds.has(id));
    for (const stream of this.#streams) stream.send(stream.isComplete ? news : rows, this.#arrived);
  }

  /** Reads the newest requests, and more to reach the latest poll or to see how a running one ends. */
  async #readNewest(): Promise<readonly Receipt[]> {
    const read = async (size: number) =>
      (await this.#parts.ledger.receipts({ walletId: this.#accountId }, { size })).items;
    const newest = await read(ROWS_MAX);
    const ids = new Set(newest.map(({ holdId }) => holdId));
    const isAllSeen = [...this.#states].every(([id, state]) => !state.startsWith("held") || ids.has(id));
    const isReached = !this.#newest || ids.has(this.#newest.holdId);
    return isAllSeen && isReached ? newest : read(RUNNING_ROWS_MAX);
  }

  /**
   * Counts the requests since the latest poll. Those that came faster than they are read are counted in the
   * usage of the time between, by milliseconds.
   */
  async #countArrived(items: readonly Receipt[]): Promise<number> {
    const before = this.#newest;
    // The first poll begins the count; an account without requests begins with its first one.
    if (!before) return this.#rows ? items.length : 0;
    const news = items.filter(({ holdId }) => holdId > before.holdId);
    const oldest = news.at(-1);
    if (!oldest || news.length < items.length) return news.length;
    const oldestMs = timeOf(oldest.holdId);
    const range = { fromMs: timeOf(before.holdId) + 1, toMs: oldestMs + 1 };
    if (range.toMs <= range.fromMs) return news.length;
    const { rows } = await this.#parts.ledger.usage({ walletId: this.#accountId, ...range, groupBy: [] });
    const later = news.filter(({ holdId }) => timeOf(holdId) > oldestMs).length;
    return later + (rows[0]?.requests ?? 0);
  }

  /** Sends all rows to streams that missed an event. */
  #catchUp(): void {
    for (const stream of this.#streams)
      if (!stream.isComplete && this.#rows) stream.send(this.#rows, this.#arrived);
  }
}

/** What of a receipt may change. */
function stateOf({ state, captured, refunded, resolvedAtMs }: Receipt): string {
  return `${state} ${captured} ${refunded} ${resolvedAtMs}`;
}

const ENCODER = new TextEncoder();

/** One open stream. Ends with the connection, its session, or the process. */
class LiveStream {
  readonly response: Response;
  /** Whether the reader has every event since its first one. */
  isComplete = false;
  readonly #parts: Parts;
  readonly #viewer: Viewer;
  readonly #onEnd: () => void;
  readonly #timer: Timer;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly #end = () => this.#close();

  constructor(parts: Parts, viewer: Viewer, onEnd: () => void) {
    this.#parts = parts;
    this.#viewer = viewer;
    this.#onEnd = onEnd;
    const body = new ReadableStream<Uint8Array>(
      { start: (controller) => this.#open(controller), cancel: () => this.#close() },
      { highWaterMark: WAITING_MAX },
    );
    const headers = { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" };
    this.response = new Response(body, { headers });
    this.#timer = setInterval(() => void this.#check(), COMMENT_MS).unref();
    viewer.received.signal.addEventListener("abort", this.#end);
    parts.stopping.addEventListener("abort", this.#end);
    if (viewer.received.signal.aborted || parts.stopping.aborted) queueMicrotask(this.#end);
  }

  /** Sends rows. The id of the event is how many requests have come: a reader sees from it what it missed. */
  send(rows: readonly RequestRow[], arrived: number): void {
    const hasRoom = (this.#controller?.desiredSize ?? 0) > 0;
    this.isComplete = hasRoom;
    if (hasRoom) this.#write(`event: rows\nid: ${arrived}\ndata: ${JSON.stringify(rows)}\n\n`);
  }

  #open(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    this.#write(": open\n\n");
  }

  #write(text: string): void {
    this.#controller?.enqueue(ENCODER.encode(text));
  }

  /** Ends the stream when its viewer may no longer see the account; else sends a comment. */
  async #check(): Promise<void> {
    const isAllowed = await mayView(this.#parts, this.#viewer).catch(() => false);
    if (!isAllowed) this.#close();
    else if ((this.#controller?.desiredSize ?? 0) > 0) this.#write(": still here\n\n");
  }

  #close(): void {
    if (!this.#controller) return;
    const controller = this.#controller;
    this.#controller = undefined;
    clearInterval(this.#timer);
    this.#viewer.received.signal.removeEventListener("abort", this.#end);
    this.#parts.stopping.removeEventListener("abort", this.#end);
    try {
      controller.close();
    } catch {
      // Cancelled by the reader: closed already.
    }
    this.#onEnd();
  }
}

async function mayView(
  { identify, database, now }: Parts,
  { accountId, address, received }: Viewer,
): Promise<boolean> {
  const actor = await identify(received, address);
  if (!actor || isHeldBack(actor)) return false;
  const role = await findRole(database, actor, { accountId, nowMs: now() });
  const { roles } = PERMISSIONS["requests.read"];
  return role !== undefined && roles.includes(role);
}
