import { FAST_MODEL, requestBody } from "../answers.ts";
import { peakMb } from "../resident-memory.ts";
import type { CallKind, Client } from "./client.ts";
import { type ClientResult, type ClientTally, createClientTally } from "./client-tally.ts";

export interface ClientLoop {
  readonly kind: CallKind;
  readonly concurrent: number;
  readonly ms: number;
  /** Over which the calls begin, so that streams do not run in step. */
  readonly spreadMs: number;
}

export interface ClientBursts {
  readonly size: number;
  readonly pauseMs: number;
  readonly count: number;
}

/** Keeps so many calls under way, one after another each, then lets the last ones end. */
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

/** Makes so many calls at once, waits for all of them and a while more, and again. */
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
    // Calls that begin and end one by one would blur a count of those in a stretch of time.
    perSecond: (concurrent / meanMs) * 1000,
    cpuUs: (user + system) / sum.answers,
    peakMb: peakMb(),
  };
}
