import type { Database } from "bun:sqlite";
import { HOUR_MS } from "../../domain/id-time.ts";
import { createWorkerQueue } from "../../workers/worker-queue.ts";
import { type RunQuery, SQLITE } from "../queries/query.ts";
import type { RetentionStore } from "../retention/job.ts";
import type { RetentionReply, RetentionWork } from "./retention-worker.ts";
import { createJobLease, createShortTransact } from "./short-transactions.ts";

export interface SqliteRetentionParts {
  /** The connection of the ledger. Only short writes use it. */
  readonly client: Database;
  readonly path: string;
  /** Runs queries in the read worker. */
  readonly run: RunQuery;
  readonly now: () => number;
  /** Drops receipts. Default: a worker. */
  readonly dropper?: RetentionDropper | undefined;
}

/** Does the work on the file, off the event loop, one piece after another. */
export interface RetentionDropper {
  run(work: RetentionWork): Promise<RetentionReply>;
  close(): void;
}

const JOB = "retention";
/** The longest piece of work: about a second, and the wait for another process. */
const WORK_MS_MAX = 60_000;
/** Milliseconds until a worker without work ends. */
const IDLE_MS = 5_000;

/** Drops receipts of a SQLite file in a worker, over a connection of its own. */
export function createSqliteRetentionStore({
  client,
  path,
  run,
  now,
  dropper = createWorkerDropper(),
}: SqliteRetentionParts): RetentionStore {
  const transact = createShortTransact(client);
  const clock = client.query<never, [number, number]>(
    "UPDATE retention SET seen_at_ms = ?, paused_until_ms = ?",
  );
  let last: Promise<unknown> = Promise.resolve();
  const work = async (job: RetentionWork) => {
    const running = dropper.run(job);
    last = running.catch(() => undefined);
    const reply = await running;
    if ("fault" in reply) throw new Error(`Cannot drop receipts: ${reply.fault}`);
    return reply;
  };

  return {
    dialect: SQLITE,
    run,
    now: async () => now(),
    takeLease: createJobLease({ client, transact, now, job: JOB }),
    async saveClock({ seenAtMs, pausedUntilMs }) {
      await transact(() => clock.run(seenAtMs, pausedUntilMs).changes > 0);
    },
    unitOf: async (hourMs) => ({ fromMs: hourMs, toMs: hourMs + HOUR_MS, table: undefined }),
    async drop(unit) {
      const reply = await work({ kind: "drop", path, unit });
      return "progress" in reply ? reply.progress : { receipts: 0, state: "busy" };
    },
    async pruneCounters(beforeMs) {
      const reply = await work({ kind: "prune", path, beforeMs });
      return "counters" in reply ? reply.counters : 0;
    },
    async shrink() {
      const reply = await work({ kind: "shrink", path });
      return "bytes" in reply ? reply.bytes : 0;
    },
    async close() {
      await last;
      dropper.close();
    },
  };
}

function createWorkerDropper(): RetentionDropper {
  const worker = createWorkerQueue<RetentionWork, RetentionReply>({
    name: "retention",
    script: new URL("./retention-worker.ts", import.meta.url),
    jobMsMax: WORK_MS_MAX,
    idleMs: IDLE_MS,
  });
  return { run: (work) => worker.run("", work), close: worker.close };
}
