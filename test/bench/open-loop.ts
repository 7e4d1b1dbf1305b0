import { FAST_MODEL, requestBody } from "./answers.ts";
import { type Connection, openConnection, printRequest, type Target } from "./connection.ts";
import { type Percentiles, percentilesOf } from "./percentiles.ts";
import { createTally, type Tally } from "./tally.ts";

export interface OpenLoop {
  readonly target: Target;
  readonly perSecond: number;
  readonly ms: number;
}

export interface OpenLoopResult extends Tally {
  /** From the moment a request was due, not from when it could be sent. */
  readonly latencyMs: Percentiles;
  /** How late requests were sent: what the generator itself adds to every latency. */
  readonly lateMs: Percentiles;
}

const WARM_CONNECTIONS = 16;

/** Sends requests at fixed times, however long the answers take: a slow answer delays no other. */
export async function runOpenLoop({ target, perSecond, ms }: OpenLoop): Promise<OpenLoopResult> {
  const request = printRequest(target, requestBody({ model: FAST_MODEL, stream: false }));
  const tally = createTally(false);
  const latenciesMs: number[] = [];
  const latesMs: number[] = [];
  const idle: DueConnection[] = [];
  const underWay: Promise<void>[] = [];

  async function open(): Promise<DueConnection> {
    const due: DueConnection = { dueMs: 0, answered: () => {}, connection: undefined };
    due.connection = await openConnection(target.url, {
      onAnswer(answer) {
        latenciesMs.push(performance.now() - due.dueMs);
        tally.count(answer);
        idle.push(due);
        due.answered();
      },
      onBroken(reason) {
        tally.fail(reason);
        due.answered();
      },
    });
    return due;
  }

  async function sendOne(dueMs: number): Promise<void> {
    const due = idle.pop() ?? (await open());
    latesMs.push(performance.now() - dueMs);
    due.dueMs = dueMs;
    await new Promise<void>((resolve) => {
      due.answered = resolve;
      due.connection?.send(request, { keepBody: tally.isLookedInto() });
    });
  }

  idle.push(...(await Promise.all(Array.from({ length: WARM_CONNECTIONS }, open))));
  await atFixedTimes({ perSecond, ms }, (dueMs) => underWay.push(sendOne(dueMs)));
  await Promise.all(underWay);
  for (const { connection } of idle) connection?.close();
  return { ...tally.sum(), latencyMs: percentilesOf(latenciesMs), lateMs: percentilesOf(latesMs) };
}

interface DueConnection {
  dueMs: number;
  answered: () => void;
  connection: Connection | undefined;
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
