import { FAST_MODEL, requestBody, SLOW_MODEL, WHOLE_BODY } from "../answers.ts";
import { type Percentiles, percentilesOf } from "../measurements.ts";
import { peakMb } from "../process-stats.ts";
import type { CallKind, Client, ClientAnswer } from "./clients.ts";
import { PACED_TEXT } from "./wire-answers.ts";

export interface ClientLoop {
  readonly kind: CallKind;
  readonly concurrent: number;
  readonly ms: number;
  /** The calls begin spread over this time, so that streams do not run in step. */
  readonly spreadMs: number;
}

export interface ClientBursts {
  readonly size: number;
  readonly pauseMs: number;
  readonly count: number;
}

/** Keeps this many calls running, and waits for the last answers. */
export function runClientLoop(
  client: Client,
  { kind, concurrent, ms, spreadMs }: ClientLoop,
): Promise<ClientResult> {
  const post = callsOf(client, kind);
  const endMs = performance.now() + spreadMs + ms;
  return measure(createClientTally(kind), concurrent, async (tally) => {
    await Promise.all(
      Array.from({ length: concurrent }, async (_, index) => {
        if (spreadMs > 0) await Bun.sleep((spreadMs * index) / concurrent);
        do await tally.count(post());
        while (performance.now() < endMs);
      }),
    );
  });
}

/** Makes many calls at once, waits for all of them, pauses, and repeats. */
export function runClientBursts(
  client: Client,
  { size, pauseMs, count }: ClientBursts,
): Promise<ClientResult> {
  const post = callsOf(client, "whole");
  return measure(createClientTally("whole"), size, async (tally) => {
    for (let burst = 0; burst < count; burst += 1) {
      await Promise.all(Array.from({ length: size }, () => tally.count(post())));
      await Bun.sleep(pauseMs);
    }
  });
}

function callsOf(client: Client, kind: CallKind) {
  const body = requestBody({ model: FAST_MODEL, stream: kind === "stream" });
  return () => client({ kind, body, signal: new AbortController().signal });
}

async function measure(
  tally: ClientTally,
  concurrent: number,
  run: (tally: ClientTally) => Promise<void>,
): Promise<ClientResult> {
  const cpu = process.cpuUsage();
  await run(tally);
  const { user, system } = process.cpuUsage(cpu);
  const { meanMs, ...sum } = tally.sum();
  return {
    ...sum,
    // Derived from the mean time, because few calls end within the measured time.
    perSecond: (concurrent / meanMs) * 1000,
    cpuUs: (user + system) / sum.answers,
    peakMb: peakMb(),
  };
}

/** The result of a client's run. A wrong answer is a fault, so that broken code cannot look fast. */
export interface ClientResult {
  readonly answers: number;
  readonly faults: readonly string[];
  /** Concurrent calls divided by their mean time. */
  readonly perSecond: number;
  /** CPU time of the client's process per answer, in microseconds. */
  readonly cpuUs: number;
  /** Time to the first piece of a stream, or to the end of a whole answer. */
  readonly ms: Percentiles;
  /** Peak memory of the client's process. */
  readonly peakMb: number;
}

const FAULTS_KEPT = 5;
const PACED_BYTES = Buffer.byteLength(PACED_TEXT);

/** Reads and checks answers and records their times. */
export interface ClientTally {
  /** Never rejects: an error is a fault. */
  count(answer: Promise<ClientAnswer>): Promise<void>;
  sum(): Pick<ClientResult, "answers" | "faults" | "ms"> & {
    /** Mean time from the call to the end of the answer. */
    readonly meanMs: number;
  };
}

export function createClientTally(kind: CallKind): ClientTally {
  const faults: string[] = [];
  const firstsMs: number[] = [];
  const lastsMs: number[] = [];

  async function readAnswer(answer: ClientAnswer, sentMs: number): Promise<void> {
    if (answer.status !== 200) throw new Error(`status ${answer.status}`);
    const fault = kind === "whole" ? await wholeFault(answer) : await streamFault(answer, sentMs);
    if (fault) throw new Error(fault);
    lastsMs.push(performance.now() - sentMs);
  }

  async function streamFault(answer: ClientAnswer, sentMs: number): Promise<string | undefined> {
    let bytes = 0;
    await answer.read((piece) => {
      if (bytes === 0) firstsMs.push(performance.now() - sentMs);
      bytes += piece.byteLength;
    });
    return bytes === PACED_BYTES ? undefined : `${bytes} bytes instead of ${PACED_BYTES}`;
  }

  return {
    async count(answer) {
      const sentMs = performance.now();
      try {
        await readAnswer(await answer, sentMs);
      } catch (error) {
        const reason = error instanceof Error ? error.message : "no error";
        if (faults.length < FAULTS_KEPT) faults.push(reason);
      }
    },
    sum: () => ({
      answers: lastsMs.length,
      faults,
      ms: percentilesOf(kind === "stream" ? firstsMs : lastsMs),
      meanMs: lastsMs.reduce((sum, each) => sum + each, 0) / lastsMs.length,
    }),
  };
}

async function wholeFault(answer: ClientAnswer): Promise<string | undefined> {
  return (await answer.text()) === WHOLE_BODY ? undefined : "a body that is not the upstream's";
}

/** Streams that the upstream keeps open after their first event. */
export interface HeldStreams {
  /** Number of streams that have begun. */
  readonly begun: number;
  /** Resolves when all streams have ended. Returns how many succeeded. */
  ended(): Promise<number>;
}

const STILL_MS = 1_000;

/** Opens all streams at once and waits until no more of them begin. */
export async function holdStreams(client: Client, count: number): Promise<HeldStreams> {
  const body = requestBody({ model: SLOW_MODEL, stream: true });
  let begun = 0;

  async function hold(): Promise<void> {
    const answer = await client({ kind: "stream", body, signal: new AbortController().signal });
    let pieces = 0;
    await answer.read(() => {
      if (pieces++ === 0) begun += 1;
    });
  }

  const ends = Promise.allSettled(Array.from({ length: count }, hold));
  for (let before = -1; begun !== before || begun === 0; await Bun.sleep(STILL_MS)) before = begun;
  return {
    begun,
    ended: async () => (await ends).filter(({ status }) => status === "fulfilled").length,
  };
}
