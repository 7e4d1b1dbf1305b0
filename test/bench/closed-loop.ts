import { type AnswerKind, BURST_MODEL, FAST_MODEL, requestBody } from "./answers.ts";
import { openConnection, printRequest, type Target } from "./connection.ts";
import { type Percentiles, percentilesOf } from "./percentiles.ts";
import { createTally, type Tally } from "./tally.ts";

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
