import { LedgerError } from "../../ledger/ledger.ts";
import type { Connection, ConnectionEvents } from "./connection.ts";
import { LedgerLinkError } from "./link-error.ts";
import { answerMessage, createSendQueue, rejectPending, type Submission, withTimeout } from "./send-queue.ts";

/** Sends mutations to a remote ledger, each again until it is answered or its time is up. */
export interface Mutations {
  readonly connection: Connection;
  submit(submission: Submission): void;
  /** Accepts no more mutations. Resolves when every submitted one is answered or given up. */
  close(): Promise<void>;
}

export interface MutationsOptions {
  /** How long a mutation may take from its submission to its answer. */
  readonly answerMaxMs: number;
  /** The maximum of mutations that wait to be sent; more are rejected with `queue_full`. */
  readonly queueMax: number;
  /** The maximum of unanswered messages; further mutations wait. */
  readonly windowMax: number;
}

/**
 * Sends the mutations of one event-loop turn together and in order. Those that a lost link left unanswered
 * are sent again first on the next link: their ids make the ledger apply each once. A message that the server
 * cannot decode is sent again in halves, until the bad mutation is alone. Only the bad mutation is rejected.
 */
export function createMutations(
  connect: (events: ConnectionEvents) => Connection,
  { answerMaxMs, queueMax, windowMax }: MutationsOptions,
): Mutations {
  const queue = createSendQueue(windowMax);
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
    for (let message = link && queue.next(); message; message = link && queue.next()) {
      link?.send(message.sequence, message.mutations.map(withTimeout));
    }
    if (queue.isEmpty) closing?.resolve();
  };
  const watchForLate = () => {
    lateTimer ??= setTimeout(() => {
      lateTimer = undefined;
      const silence = new LedgerLinkError("silent");
      const wasSent = queue.rejectLate(performance.now(), new LedgerError("unavailable", silence));
      if (wasSent) connection.link?.drop(silence);
      if (!queue.isEmpty) watchForLate();
      flushSoon();
    }, answerMaxMs / 20);
  };

  const connection = connect({
    onUp: flushSoon,
    onAnswer(sequence, results) {
      const mutations = queue.take(sequence, results.length);
      if (!mutations) return connection.link?.drop(new LedgerLinkError("unsupported"));
      answerMessage(mutations, results);
      flushSoon();
    },
    onLost(error) {
      if (error.code !== "rejected") return queue.putBack();
      const bad = queue.putBackHalved();
      if (bad) rejectPending(bad, new LedgerError("unavailable", error));
    },
    onAway(error) {
      queue.rejectAll(new LedgerError("unavailable", error));
      flushSoon();
    },
  });

  return {
    connection,
    submit(submission) {
      const { awayBecause } = connection;
      if (closing || awayBecause) return submission.reject(new LedgerError("unavailable", awayBecause));
      if (queue.waiting >= queueMax) return submission.reject(new LedgerError("queue_full"));
      queue.put({ ...submission, giveUpAtMs: performance.now() + answerMaxMs, sends: 0, isAnswered: false });
      watchForLate();
      flushSoon();
    },
    close() {
      closing ??= Promise.withResolvers();
      flushSoon();
      return closing.promise.then(() => clearTimeout(lateTimer));
    },
  };
}
