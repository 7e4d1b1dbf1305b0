import { WHOLE_BODY } from "../answers.ts";
import { type Percentiles, percentilesOf } from "../percentiles.ts";
import type { CallKind, ClientAnswer } from "./client.ts";
import { PACED_TEXT } from "./wire-answers.ts";

/** What a client's run came to. A wrong answer is a fault, so that nothing broken can look fast. */
export interface ClientResult {
  readonly answers: number;
  readonly faults: readonly string[];
  /** Calls at a time by their mean time: the rate while all of them are under way. */
  readonly perSecond: number;
  /** Of the client's process, user and system, per answer. */
  readonly cpuUs: number;
  /** From the call to the first piece of a stream, or to the end of a whole answer. */
  readonly ms: Percentiles;
  /** The most that the client's process ever took. */
  readonly peakMb: number;
}

const FAULTS_KEPT = 5;
const PACED_BYTES = Buffer.byteLength(PACED_TEXT);

/** Reads answers to their ends, checks them, and keeps the times. */
export interface ClientTally {
  /** Never rejects: what goes wrong is a fault. */
  count(answer: Promise<ClientAnswer>): Promise<void>;
  sum(): Pick<ClientResult, "answers" | "faults" | "ms"> & {
    /** From the call to the end of the answer, the mean. */
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
