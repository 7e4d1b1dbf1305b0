import type { Ledger } from "../../ledger/ledger.ts";
import { createRemoteCommands } from "./commands.ts";
import { type ConnectionOptions, createConnection } from "./connection.ts";
import { type ClientTls, openLink, secure } from "./link.ts";
import { createMutations, type MutationsOptions } from "./mutations.ts";
import { createCall, createRemoteReads } from "./reads.ts";

export interface ConnectLedgerOptions extends Partial<ClientBounds> {
  /** "host:port" */
  readonly address: string;
  readonly token: string;
  /** Without it the connection is not encrypted, and the token travels in the clear. */
  readonly tls?: ClientTls | undefined;
}

interface ClientBounds extends ConnectionOptions, MutationsOptions {
  /** How long a read of many rows may take; a read of a few rows has `answerMaxMs`. */
  readonly listMaxMs: number;
}

/**
 * A mutation waits longer than the server waits for its database, so that the server's answer comes first.
 */
const BOUNDS: ClientBounds = Object.freeze({
  answerMaxMs: 5_000,
  outageMaxMs: 2_000,
  connectMaxMs: 2_000,
  listMaxMs: 30_000,
  queueMax: 20_000,
  windowMax: 16,
});

/**
 * Connects to the ledger of another process, and reconnects by itself. Answers and declines are the server's.
 * Mutations that a broken connection left unanswered are sent again; `replayed` may therefore mean that the
 * first try of this call succeeded. While the ledger cannot be reached, calls reject with `unavailable` and a
 * LedgerLinkError as cause: the first ones after `outageMaxMs`, later ones at once.
 */
export function connectLedger({ address, token, tls, ...bounds }: ConnectLedgerOptions): Ledger {
  const options = { ...BOUNDS, ...bounds };
  const endpoint = { address, token, ...secure(address, tls) };
  const { connection, submit, close } = createMutations(
    (events) => createConnection((linkEvents) => openLink(endpoint, linkEvents), events, options),
    options,
  );
  const { answerMaxMs, listMaxMs, outageMaxMs } = options;
  const readRow = createCall(connection, { maxMs: answerMaxMs, outageMaxMs });
  const readRows = createCall(connection, { maxMs: listMaxMs, outageMaxMs });
  return {
    ...createRemoteCommands({ submit }),
    ...createRemoteReads({ readRow, readRows }),
    async close() {
      await close();
      connection.close();
    },
  };
}
