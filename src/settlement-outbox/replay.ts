import { printUsd } from "../domain/money.ts";
import { type Ledger, LedgerError } from "../ledger/ledger.ts";
import { describeFault, type Log, type LogFields } from "../telemetry/log.ts";
import { bookEntry, isAway, type JournalEntry, parseEntry } from "./entry.ts";
import type { JournalFile, RefusedEntry, StoredEntry } from "./file.ts";
import type { JournalFiles } from "./folder.ts";

/** Gives the ledger what it could not take at its moment. */
export interface Replayer {
  /** Whether the ledger took nothing of what it was last given. */
  readonly isAway: boolean;
  /** Replays a file to its end, or until the ledger is away; the next call goes on behind that. */
  replay(file: JournalFile): Promise<void>;
  /** From now on no answer changes a file. */
  stop(): void;
}

export interface ReplayerParts {
  readonly ledger: Ledger;
  readonly log: Log;
  readonly now: () => number;
}

/** Entries that are with the ledger at once; only one while it is away, to see whether it still is. */
const PARALLEL = 256;
const ANSWER_MAX_MS = 10_000;

export function createReplayer({ ledger, log, now }: ReplayerParts): Replayer {
  /** What each file was read to, so that entries which always fail do not stand before all others. */
  const positions = new WeakMap<JournalFile, number>();
  let away = false;
  let isStopped = false;

  function nextOf(file: JournalFile): readonly StoredEntry[] {
    const max = away ? 1 : PARALLEL;
    const position = positions.get(file) ?? 0;
    const next = file.read(position, max);
    return next.length === 0 && away ? file.read(0, max) : next;
  }
  function finish(file: JournalFile, fates: readonly Fate[]): void {
    const booked = fates.filter(({ kind }) => kind === "booked").map(({ seq }) => seq);
    const refused = fates.filter((fate) => fate.kind === "refused");
    if (booked.length + refused.length > 0) file.finish(booked, refused, now());
    for (const { about, refusal } of refused) log.error({ ...about, refusal }, "settlement refused for good");
  }
  function noteAway(fates: readonly Fate[]): void {
    const kept = fates.filter((fate) => fate.kind === "kept");
    const isNowAway = kept.length === fates.length;
    if (isNowAway && !away) log.warn(describeFault(kept[0]?.fault), "ledger does not take the journal");
    if (!isNowAway && away) log.info({}, "ledger takes the journal again");
    away = isNowAway;
  }

  return {
    get isAway() {
      return away;
    },
    async replay(file) {
      while (!isStopped) {
        const entries = nextOf(file);
        const fates = await Promise.all(entries.map((entry) => fateOf(ledger, entry)));
        if (isStopped) return;
        positions.set(file, entries.at(-1)?.seq ?? 0);
        if (entries.length === 0) return;
        finish(file, fates);
        noteAway(fates);
        if (away) return;
      }
    },
    stop() {
      isStopped = true;
    },
  };
}

/** What became of an entry: one that is kept is tried again. */
type Fate =
  | { readonly kind: "booked"; readonly seq: number }
  | { readonly kind: "kept"; readonly seq: number; readonly fault: unknown }
  | ({ readonly kind: "refused"; readonly about: LogFields } & RefusedEntry);

async function fateOf(ledger: Ledger, { seq, holdId, text }: StoredEntry): Promise<Fate> {
  const entry = tryParse(text);
  if (!entry) return { kind: "refused", seq, refusal: "unreadable", about: { request: holdId } };
  try {
    await bookEntry(ledger, entry, ANSWER_MAX_MS);
    return { kind: "booked", seq };
  } catch (fault) {
    if (!(fault instanceof LedgerError) || isAway(fault)) return { kind: "kept", seq, fault };
    // Whatever stands against it, there is no hold that this should have freed.
    if (entry.kind === "abandon") return { kind: "booked", seq };
    return { kind: "refused", seq, refusal: fault.refusal, about: aboutEntry(entry) };
  }
}

function tryParse(text: string | undefined): JournalEntry | undefined {
  try {
    return text === undefined ? undefined : parseEntry(text);
  } catch {
    return undefined;
  }
}

function aboutEntry({ kind, request }: JournalEntry): LogFields {
  const { walletId, holdId } = request;
  const amountUsd = "amount" in request ? printUsd(request.amount) : "0.00";
  return { request: holdId, wallet: walletId, does: kind, amountUsd };
}

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
