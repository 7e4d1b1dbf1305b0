import { describeFault, type Log } from "../telemetry/log.ts";
import type { JournalFiles } from "./folder.ts";
import type { Replayer } from "./replay.ts";

/** Replays all journals of a process again and again, the first time at once. */
export interface Rounds {
  /** Resolves when a round is over that runs now or begins now. */
  replayNow(): Promise<void>;
  stop(): void;
}

export interface RoundOptions {
  /** The pause between two rounds while the ledger takes what it is given; up to five times that while it is away. */
  readonly everyMs?: number;
  /** How often a round looks for what dead processes left. */
  readonly adoptEveryMs?: number;
}

const PAUSES_MAX = 5;

export function startRounds(
  { files, replayer, log }: { readonly files: JournalFiles; readonly replayer: Replayer; readonly log: Log },
  { everyMs = 1_000, adoptEveryMs = 10_000 }: RoundOptions,
): Rounds {
  let running: Promise<void> | undefined;
  let pauses = 1;
  let adoptAt = performance.now();
  let isStopped = false;
  let timer = setTimeout(runNext, 0);

  function replayNow(): Promise<void> {
    running ??= replayAll().finally(() => {
      running = undefined;
    });
    return running;
  }
  async function replayAll(): Promise<void> {
    for (const file of files.all()) {
      await replayer.replay(file).catch((fault: unknown) => files.blame(file, fault));
    }
    files.giveUpReplayed();
  }
  async function runNext(): Promise<void> {
    try {
      if (performance.now() >= adoptAt) {
        files.adopt();
        adoptAt = performance.now() + adoptEveryMs;
      }
      await replayNow();
    } catch (fault) {
      log.error(describeFault(fault), "journal round failed");
    }
    pauses = replayer.isAway ? Math.min(pauses * 2, PAUSES_MAX) : 1;
    // Jitter: replicas that lost their ledger together would come back to it together.
    if (!isStopped) timer = setTimeout(runNext, everyMs * pauses * (0.8 + Math.random() * 0.4));
  }

  return {
    replayNow,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
