import { type AnswerKind, BURST_MODEL, FAST_MODEL, faultOf, requestBody, SLOW_MODEL } from "./answers.ts";
import { type Connection, openConnection, printRequest, type Target } from "./connection.ts";
import {
  type BenchRequest,
  createRecord,
  createTally,
  type Percentiles,
  percentilesOf,
  type RequestRecord,
  summarize,
  type Tally,
  type TallyKeeper,
  type Timings,
} from "./measurements.ts";

export interface ClosedLoop {
  readonly target: Target;
  readonly kind: AnswerKind;
  /** Default: the model of the answer kind. */
  readonly model?: string;
  readonly connections: number;
  readonly ms: number;
  /** Addresses of replicas, used by the connections in turn. Default: that of the target. */
  readonly urls?: readonly string[];
  /** Keys, used by the requests in turn. Default: that of the target. */
  readonly secrets?: readonly string[];
  /** Least size of a request body. */
  readonly bodyBytes?: number;
}

export interface ClosedLoopResult extends Tally {
  readonly perSecond: number;
  readonly latencyMs: Percentiles;
}

/** Sends one request after another on every connection, and waits for the last answers. */
export async function runClosedLoop({
  target,
  kind,
  model = kind === "burst" ? BURST_MODEL : FAST_MODEL,
  connections,
  ms,
  urls = [target.url],
  secrets = [target.secret],
  bodyBytes = 0,
}: ClosedLoop): Promise<ClosedLoopResult> {
  const isStream = kind !== "whole";
  const body = requestBody({ model, stream: isStream, bytes: bodyBytes });
  const requests = secrets.map((secret) => printRequest({ ...target, secret }, body));
  const latenciesMs: number[] = [];
  let turn = 0;
  const result = await exchange({
    connections,
    ms,
    tally: createTally((each) => faultOf(each, isStream)),
    urlOf: (connection) => urls[connection % urls.length] ?? target.url,
    nextRequest: () => requests[turn++ % requests.length],
    onInTime: (latencyMs) => latenciesMs.push(latencyMs),
  });
  return { ...result, latencyMs: percentilesOf(latenciesMs) };
}

/** A closed loop over any requests. Connections are numbered from 0. */
export interface Exchange {
  readonly connections: number;
  readonly ms: number;
  readonly tally: TallyKeeper;
  urlOf(connection: number): string;
  nextRequest(connection: number): Uint8Array | undefined;
  /** Called for each answer that came before the end. */
  onInTime?(latencyMs: number, connection: number): void;
}

/** Sends the next request of every connection after each answer, and waits for the last answers. */
export async function exchange({
  connections,
  ms,
  tally,
  urlOf,
  nextRequest,
  onInTime,
}: Exchange): Promise<Tally & { readonly perSecond: number }> {
  const endMs = performance.now() + ms;
  let inTime = 0;

  async function runConnection(number: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let sentMs = 0;
    const connection = await openConnection(urlOf(number), {
      onAnswer(answer) {
        const nowMs = performance.now();
        tally.count(answer);
        if (nowMs > endMs) return resolve();
        inTime += 1;
        onInTime?.(nowMs - sentMs, number);
        send();
      },
      onBroken(reason) {
        tally.fail(reason);
        resolve();
      },
    });
    function send(): void {
      const request = nextRequest(number);
      sentMs = performance.now();
      if (request) connection.send(request, { keepBody: tally.checksNextBody() });
    }
    send();
    await promise;
    connection.close();
  }

  await Promise.all(Array.from({ length: connections }, (_, number) => runConnection(number)));
  return { ...tally.sum(), perSecond: (inTime / ms) * 1000 };
}

export interface OpenLoop {
  readonly target: Target;
  readonly perSecond: number;
  readonly ms: number;
  /** The requests to send, in turn. Default: whole answers of one model. */
  readonly requests?: readonly BenchRequest[];
}

export interface OpenLoopResult extends Tally {
  /** From the moment a request was due, not from when it was sent. */
  readonly latencyMs: Percentiles;
  readonly byLabel: Readonly<Record<string, Timings>>;
  /** How late requests were sent. Part of every latency. */
  readonly lateMs: Percentiles;
}

const WARM_CONNECTIONS = 16;
const WHOLE: BenchRequest = { label: "whole", model: FAST_MODEL, stream: false };

/** Sends requests at fixed times, so that a slow answer delays no other. */
export async function runOpenLoop({
  target,
  perSecond,
  ms,
  requests = [WHOLE],
}: OpenLoop): Promise<OpenLoopResult> {
  const records = new Map(requests.map((ask) => [ask.label, createRecord(ask)]));
  const due = requests.map((ask) => ({
    record: records.get(ask.label) ?? createRecord(ask),
    request: printRequest(target, requestBody(ask)),
  }));
  const latesMs: number[] = [];
  const idle: IdleConnection[] = [];
  const underWay: Promise<void>[] = [];
  const open = () => openIdle(target.url, idle);

  async function sendOne(dueMs: number, { record, request }: { record: RequestRecord; request: Uint8Array }) {
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
  return { ...summarize([...records.values()]), lateMs: percentilesOf(latesMs) };
}

interface IdleConnection {
  /** Sends a request and resolves when its answer or break-off is recorded. */
  ask(request: Uint8Array, record: RequestRecord, dueMs: number): Promise<void>;
  close(): void;
}

/** Opens a connection that becomes idle again after each answer. */
async function openIdle(url: string, idle: IdleConnection[]): Promise<IdleConnection> {
  let current: { record: RequestRecord; dueMs: number; resolve: () => void } | undefined;
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
        connection.send(request, { keepBody: record.tally.checksNextBody() });
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

/** Streams that have begun and not ended. */
export interface OpenStreams {
  /** Resolves when the upstream has ended every stream. */
  ended(): Promise<Tally>;
}

const OPENED_AT_ONCE = 100;

/** Opens streams and waits for the first event of each. */
export async function openStreams(target: Target, count: number): Promise<OpenStreams> {
  const request = printRequest(target, requestBody({ model: SLOW_MODEL, stream: true }));
  const tally = createTally((body) => faultOf(body, true));
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
    connection.send(request, { keepBody: tally.checksNextBody() });
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
