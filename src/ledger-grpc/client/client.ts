import type { Ledger } from "../../ledger/ledger.ts";
import { createRemoteCommands } from "./commands.ts";
import { type ConnectionOptions, createConnection } from "./connection.ts";
import { type ClientTls, openLink, secure } from "./link.ts";
import { createMutations, type MutationsOptions } from "./mutations.ts";
import { createCall, createRemoteReads } from "./reads.ts";

export interface ConnectLedgerOptions extends Partial<RemoteBounds> {
  /** "host:port" */
  readonly address: string;
  readonly token: string;
  /** Without it everything goes in the clear, the token too. */
  readonly tls?: ClientTls | undefined;
}

interface RemoteBounds extends ConnectionOptions, MutationsOptions {
  /** How long a question about many rows may take; one about a few has `answerMaxMs`. */
  readonly listMaxMs: number;
}

/** A mutation waits longer than the ledger itself does for its database, so that its own answer comes first. */
const BOUNDS: RemoteBounds = Object.freeze({
  answerMaxMs: 5_000,
  outageMaxMs: 2_000,
  connectMaxMs: 2_000,
  listMaxMs: 30_000,
  queueMax: 20_000,
  windowMax: 16,
});

/**
 * A ledger in another process. It answers and refuses as the ledger there does, and connects by itself, now
 * and again. What is unanswered when a connection breaks is given again on the next, so `replayed` may also
 * mean that this very command had got through before. A ledger that stays away, or does not answer, is
 * `unavailable` with a LedgerLinkError as its cause: after some seconds at first, then at once.
 */
export function connectLedger({ address, token, tls, ...bounds }: ConnectLedgerOptions): Ledger {
  const options = { ...BOUNDS, ...bounds };
  const endpoint = { address, token, ...secure(address, tls) };
  const { connection, submit, close } = createMutations(
    (events) => createConnection((linkEvents) => openLink(endpoint, linkEvents), events, options),
    options,
  );
  const { answerMaxMs, listMaxMs, outageMaxMs } = options;
  const briefly = createCall(connection, { maxMs: answerMaxMs, outageMaxMs });
  const atLength = createCall(connection, { maxMs: listMaxMs, outageMaxMs });
  return {
    ...createRemoteCommands({ submit }),
    ...createRemoteReads({ briefly, atLength }),
    async close() {
      await close();
      connection.close();
    },
  };
}
