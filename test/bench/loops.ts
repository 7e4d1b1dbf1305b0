import { type AnswerKind, BURST_MODEL, FAST_MODEL, requestBody, SLOW_MODEL } from "./answers.ts";
import { type Connection, openConnection, printRequest, type Target } from "./connection.ts";
import {
  type Ask,
  type AskRecord,
  createRecord,
  createTally,
  type Percentiles,
  percentilesOf,
  sumUp,
  type Tally,
  type Timings,
} from "./measurements.ts";

export interface ClosedLoop {
  readonly target: Target;
  readonly kind: AnswerKind;
  /** Asked for instead of the kind's own, which it has to answer alike. */
  readonly model?: string;
  readonly connections: number;
  readonly ms: number;
}

export interface ClosedLoopResult extends Tally {
  readonly perSecond: number;
  readonly latencyMs: Percentiles;
}

/** Keeps every connection busy with one request after another, then lets the last ones end. */
export async function runClosedLoop({
  target,
  kind,
  model = kind === "burst" ? BURST_MODEL : FAST_MODEL,
  connections,
  ms,
}: ClosedLoop): Promise<ClosedLoopResult> {
  const isStream = kind !== "whole";
  const request = printRequest(target, requestBody({ model, stream: isStream }));
  const tally = createTally(isStream);
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  const endMs = startMs + ms;
  let inTime = 0;

  async function runConnection(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let sentMs = 0;
    const connection = await openConnection(target.url, {
      onAnswer(answer) {
        const nowMs = performance.now();
        tally.count(answer);
        if (nowMs > endMs) return resolve();
        inTime += 1;
        latenciesMs.push(nowMs - sentMs);
        send();
      },
      onBroken(reason) {
        tally.fail(reason);
        resolve();
      },
    });
    function send(): void {
      sentMs = performance.now();
      connection.send(request, { keepBody: tally.isLookedInto() });
    }
    send();
    await promise;
    connection.close();
  }

  await Promise.all(Array.from({ length: connections }, runConnection));
  return { ...tally.sum(), perSecond: (inTime / ms) * 1000, latencyMs: percentilesOf(latenciesMs) };
}

export interface OpenLoop {
  readonly target: Target;
  readonly perSecond: number;
  readonly ms: number;
  /** What is asked, one after the other and again from the first; by default whole answers of one model. */
  readonly asks?: readonly Ask[];
}

export interface OpenLoopResult extends Tally {
  /** From the moment a request was due, not from when it could be sent. */
  readonly latencyMs: Percentiles;
  readonly byLabel: Readonly<Record<string, Timings>>;
  /** How late requests were sent: what the generator itself adds to every latency. */
  readonly lateMs: Percentiles;
}

const WARM_CONNECTIONS = 16;
const WHOLE: Ask = { label: "whole", model: FAST_MODEL, stream: false };

/** Sends requests at fixed times, however long the answers take: a slow answer delays no other. */
export async function runOpenLoop({
  target,
  perSecond,
  ms,
  asks = [WHOLE],
}: OpenLoop): Promise<OpenLoopResult> {
  const records = new Map(asks.map((ask) => [ask.label, createRecord(ask)]));
  const due = asks.map((ask) => ({
    record: records.get(ask.label) ?? createRecord(ask),
    request: printRequest(target, requestBody(ask)),
  }));
  const latesMs: number[] = [];
  const idle: IdleConnection[] = [];
  const underWay: Promise<void>[] = [];
  const open = () => openIdle(target.url, idle);

  async function sendOne(dueMs: number, { record, request }: { record: AskRecord; request: Uint8Array }) {
    const connection = idle.pop() ?? (await open());
    latesMs.push(performance.now() - dueMs);
    await connection.ask(request, record, dueMs);
  }

  idle.push(...(await Promise.all(Array.from({ length: WARM_CONNECTIONS }, open))));
  let turn = 0;
  await atFixedTimes({ perSecond, ms }, (dueMs) => {
    const next = due[turn++ % due.length];
    if (next) underWay.push(sendOne(dueMs, next));
  });
  await Promise.all(underWay);
  for (const connection of idle) connection.close();
  return { ...sumUp([...records.values()]), lateMs: percentilesOf(latesMs) };
}

interface IdleConnection {
  /** Sends a request and waits for its answer or its break-off, either of which is put on record. */
  ask(request: Uint8Array, record: AskRecord, dueMs: number): Promise<void>;
  close(): void;
}

/** Opens a connection that goes back to the idle ones whenever it has been answered. */
async function openIdle(url: string, idle: IdleConnection[]): Promise<IdleConnection> {
  let current: { record: AskRecord; dueMs: number; resolve: () => void } | undefined;
  const connection: Connection = await openConnection(url, {
    onFirstBody: () => current?.record.firstBytesMs.push(performance.now() - current.dueMs),
    onAnswer(answer) {
      current?.record.latenciesMs.push(performance.now() - current.dueMs);
      current?.record.tally.count(answer);
      idle.push(self);
      current?.resolve();
    },
    onBroken(reason) {
      current?.record.tally.fail(reason);
      current?.resolve();
    },
  });
  const self: IdleConnection = {
    ask: (request, record, dueMs) =>
      new Promise((resolve) => {
        current = { record, dueMs, resolve };
        connection.send(request, { keepBody: record.tally.isLookedInto() });
      }),
    close: () => connection.close(),
  };
  return self;
}

async function atFixedTimes(
  { perSecond, ms }: { perSecond: number; ms: number },
  act: (dueMs: number) => void,
): Promise<void> {
  const stepMs = 1000 / perSecond;
  const startMs = performance.now() + stepMs;
  const count = Math.floor(ms / stepMs);
  for (let done = 0; done < count; ) {
    const waitMs = startMs + done * stepMs - performance.now();
    if (waitMs > 0) await Bun.sleep(waitMs);
    else act(startMs + stepMs * done++);
  }
}

/** Streams that have all begun and none of which has ended. */
export interface OpenStreams {
  /** Resolves when every stream has ended, which the upstream decides. */
  ended(): Promise<Tally>;
}

const OPENED_AT_ONCE = 100;

/** Opens streams and waits for the first event of each. */
export async function openStreams(target: Target, count: number): Promise<OpenStreams> {
  const request = printRequest(target, requestBody({ model: SLOW_MODEL, stream: true }));
  const tally = createTally(true);
  const ends: Promise<void>[] = [];

  async function open(): Promise<void> {
    const first = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const connection = await openConnection(target.url, {
      onFirstBody: first.resolve,
      onAnswer(answer) {
        tally.count(answer);
        finish();
      },
      onBroken(reason) {
        tally.fail(reason);
        finish();
      },
    });
    function finish(): void {
      first.resolve();
      end.resolve();
      connection.close();
    }
    ends.push(end.promise);
    connection.send(request, { keepBody: tally.isLookedInto() });
    await first.promise;
  }

  for (let opened = 0; opened < count; opened += OPENED_AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(OPENED_AT_ONCE, count - opened) }, open));
  }
  return {
    async ended() {
      await Promise.all(ends);
      return tally.sum();
    },
  };
}
