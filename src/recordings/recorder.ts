import type { Database } from "../db/database.ts";
import type { MasterKey } from "../db/sealing.ts";
import { bytesOf } from "../domain/byte-blocks.ts";
import { isAhead } from "../domain/recording-rules.ts";
import { platform, waitAtMost } from "../platform.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import type { RecordingMetrics, RecordingResult as Result } from "../telemetry/recording-metrics.ts";
import { createWorkerQueue, type WorkerQueue } from "../workers/worker-queue.ts";
import type { RecordedRequest, Recorder, Recording } from "./recording.ts";
import type { RecordingJob, RecordingResult } from "./recording-worker.ts";
import { Memory, REQUEST_BYTES_MAX, RunningRecording } from "./running-recording.ts";
import { type RecordingBounds, writeRecording } from "./store.ts";

/** Memory of all bodies that are being recorded, or wait to be written; an account may take a quarter. */
const MEMORY_BYTES_MAX = 64 * 1024 * 1024;
/** Redacting the largest bodies with the slowest rules takes some seconds. */
const JOB_MS_MAX = 5_000;
/** An account whose jobs take long pauses after each, so that it has a fifth of the worker at most. */
const SLOW_MS = 50;
const PAUSE_FACTOR = 4;
const IDLE_MS = 30_000;
const CLOSE_MS_MAX = 2_000;
/** Recordings that are lost are logged at most this often. */
const REPORT_EVERY_MS = 60_000;

interface RecorderOptions {
  readonly database: Database;
  readonly log: Log;
  /** The keys of the operator: the first one encrypts. Without any, nothing is recorded. */
  masterKeys(): readonly MasterKey[];
  readonly bounds: RecordingBounds;
  readonly metrics?: RecordingMetrics | undefined;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** Default: 64 MiB. */
  readonly memoryBytesMax?: number;
  /** Milliseconds of one job, the start of the worker included. Default: 5,000. */
  readonly jobMsMax?: number;
}

export interface RunningRecorder extends Recorder {
  /** Resolves when everything that was settled is written, or lost. */
  flush(): Promise<void>;
  /** Writes for at most 2 s more. */
  close(): Promise<void>;
}

/**
 * Keeps the bodies of requests whose key says so. They are written when the request is over, one after the other: a
 * slow database or a full disk costs recordings, and neither requests nor money. What has no room is dropped.
 */
export function createRecorder(options: RecorderOptions): RunningRecorder {
  return new QueueRecorder(options);
}

/** Why a recording was lost. */
type Loss = Extract<Result, "memory" | "worker" | "database">;

class QueueRecorder implements RunningRecorder {
  readonly #options: RecorderOptions;
  readonly #memory: Memory;
  readonly #now: () => number;
  readonly #worker: WorkerQueue<RecordingJob, RecordingResult>;
  /** The recordings of each account that are not written yet, one after the other. */
  readonly #byAccount = new Map<string, Promise<void>>();
  /** The latest write to the database: there is one at a time. */
  #written: Promise<void> = Promise.resolve();
  readonly #lost = new Map<Loss, number>();
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#memory = new Memory(options.memoryBytesMax ?? MEMORY_BYTES_MAX);
    this.#now = options.now ?? platform.now;
    this.#worker = createWorkerQueue({
      name: "recording worker",
      script: new URL("./recording-worker.ts", import.meta.url),
      jobMsMax: options.jobMsMax ?? JOB_MS_MAX,
      idleMs: IDLE_MS,
    });
  }

  begin(request: RecordedRequest): Recording | undefined {
    const nowMs = this.#now();
    const [master] = isAhead(request.rules.untilMs, nowMs) ? this.#options.masterKeys() : [];
    if (!master) return undefined;
    const bytes = Math.min(bytesOf(request.blocks), REQUEST_BYTES_MAX);
    if (!this.#memory.tryTake(request.accountId, bytes)) {
      this.#lose("memory");
      return undefined;
    }
    const end = (recording: RunningRecording) => this.#end(recording);
    return new RunningRecording({ request, bytes, master, nowMs, memory: this.#memory, end });
  }

  async flush(): Promise<void> {
    while (this.#byAccount.size > 0) await Promise.all(this.#byAccount.values());
  }

  async close(): Promise<void> {
    await waitAtMost(CLOSE_MS_MAX, this.flush());
    this.#worker.close();
  }

  /** Takes the place of a request that has ended in the queue of those that are written. */
  #end(recording: RunningRecording): void {
    if (recording.outcome === undefined) recording.giveBack();
    else this.#queue(recording);
  }

  #queue(recording: RunningRecording): void {
    const { accountId } = recording.request;
    const before = this.#byAccount.get(accountId) ?? Promise.resolve();
    const written = before.then(async () => {
      const ms = await this.#keep(recording);
      if (ms >= SLOW_MS) await platform.sleep(PAUSE_FACTOR * ms);
      if (this.#byAccount.get(accountId) === written) this.#byAccount.delete(accountId);
    });
    this.#byAccount.set(accountId, written);
  }

  /** Redacts, encrypts and writes a recording. Returns how long the worker took. Never rejects. */
  async #keep(recording: RunningRecording): Promise<number> {
    const failed = { sealed: undefined, ms: JOB_MS_MAX };
    const { accountId } = recording.request;
    const { sealed, ms } = await this.#worker.run(accountId, recording.toJob()).catch(() => failed);
    if (sealed === undefined) this.#lose("worker");
    else {
      this.#written = this.#written.then(() => this.#write(recording, sealed));
      await this.#written;
    }
    recording.giveBack();
    return ms;
  }

  /** Never rejects. */
  async #write({ request, master, beganAtMs, expiresAtMs }: RunningRecording, sealed: string): Promise<void> {
    const { requestId, accountId, keyId, rules } = request;
    const times = { createdAtMs: beganAtMs, expiresAtMs };
    const row = { requestId, accountId, keyId, masterId: master.id, ...times, sealed };
    const { database, bounds, metrics } = this.#options;
    try {
      const parts = { database, bounds, nowMs: this.#now() };
      const { result, bytes, dropped } = await writeRecording(parts, { ...row, salt: rules.salt });
      if (result === "stored") metrics?.stored(bytes);
      else metrics?.recorded(result);
      metrics?.deleted("room", dropped);
    } catch (fault) {
      this.#lose("database", fault);
    }
  }

  #lose(loss: Loss, fault?: unknown): void {
    this.#options.metrics?.recorded(loss);
    this.#lost.set(loss, (this.#lost.get(loss) ?? 0) + 1);
    const now = platform.monotonicMs();
    if (now - this.#reportedAt < REPORT_EVERY_MS) return;
    this.#reportedAt = now;
    const details = fault === undefined ? {} : describeFault(fault);
    this.#options.log.warn({ ...Object.fromEntries(this.#lost), ...details }, "recordings lost");
    this.#lost.clear();
  }
}
