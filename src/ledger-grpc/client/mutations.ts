import { LedgerError } from "../../ledger/ledger.ts";
import type { Connection, ConnectionEvents } from "./connection.ts";
import { LedgerLinkError } from "./link-error.ts";
import { answer, createOutbox, onWire, refuse, type Submission } from "./send-queue.ts";

/** Gives mutations to a ledger elsewhere, and each again until it is answered or its time is up. */
export interface Mutations {
  readonly connection: Connection;
  submit(submission: Submission): void;
  /** Takes no more; resolves when all that was taken is answered or given up. */
  close(): Promise<void>;
}

export interface MutationsOptions {
  /** How long a mutation may take from its submission to its answer. */
  readonly answerMaxMs: number;
  /** Mutations that may wait to be sent; above it `queue_full`. */
  readonly queueMax: number;
  /** Messages that may be unanswered; what comes then waits. */
  readonly windowMax: number;
}

/**
 * What one turn of the event loop brings goes out together and in order. What a lost link has not answered
 * goes out again on the next one, before everything else: by its id the ledger does it once. A message that
 * the server will not read is sent again by halves, until the one mutation to blame is alone.
 */
export function createMutations(
  connect: (events: ConnectionEvents) => Connection,
  { answerMaxMs, queueMax, windowMax }: MutationsOptions,
): Mutations {
  const outbox = createOutbox(windowMax);
  let isFlushing = false;
  let lateTimer: Timer | undefined;
  let closing: PromiseWithResolvers<void> | undefined;

  const flushSoon = () => {
    if (isFlushing) return;
    isFlushing = true;
    setImmediate(flush);
  };
  const flush = () => {
    isFlushing = false;
    const { link } = connection;
    for (let message = link && outbox.next(); message; message = link && outbox.next()) {
      link?.send(message.sequence, message.mutations.map(onWire));
    }
    if (outbox.isEmpty) closing?.resolve();
  };
  const watch = () => {
    lateTimer ??= setTimeout(() => {
      lateTimer = undefined;
      const silence = new LedgerLinkError("silent");
      const wasSent = outbox.refuseLate(performance.now(), new LedgerError("unavailable", silence));
      if (wasSent) connection.link?.drop(silence);
      if (!outbox.isEmpty) watch();
      flushSoon();
    }, answerMaxMs / 20);
  };

  const connection = connect({
    onUp: flushSoon,
    onAnswer(sequence, results) {
      const mutations = outbox.take(sequence, results.length);
      if (!mutations) return connection.link?.drop(new LedgerLinkError("unsupported"));
      answer(mutations, results);
      flushSoon();
    },
    onLost(error) {
      if (error.code !== "rejected") return outbox.putBack();
      const blamed = outbox.putBackSuspects();
      if (blamed) refuse(blamed, new LedgerError("unavailable", error));
    },
    onAway(error) {
      outbox.refuseAll(new LedgerError("unavailable", error));
      flushSoon();
    },
  });

  return {
    connection,
    submit(submission) {
      const { awayBecause } = connection;
      if (closing || awayBecause) return submission.reject(new LedgerError("unavailable", awayBecause));
      if (outbox.waits >= queueMax) return submission.reject(new LedgerError("queue_full"));
      outbox.put({ ...submission, giveUpAtMs: performance.now() + answerMaxMs, sends: 0, isAnswered: false });
      watch();
      flushSoon();
    },
    close() {
      closing ??= Promise.withResolvers();
      flushSoon();
      return closing.promise.then(() => clearTimeout(lateTimer));
    },
  };
}
