import { type Endpoint, parseEndpoint, readListen } from "./endpoint.ts";
import { findLedgerToken, isLedgerToken } from "./ledger-token.ts";
import type { Environment } from "./placeholders.ts";
import type { Problems } from "./problems.ts";
import { readTlsFiles, type TlsFiles } from "./tls-files.ts";

/** A ledger that another process keeps. */
export interface RemoteLedger {
  /** "host:port" */
  readonly address: string;
  /** Whether it is spoken to in TLS. */
  readonly isEncrypted: boolean;
}

/** How the ledger is reached from outside, or where it is. */
export interface LedgerConfig {
  /** Where the gRPC service listens; `undefined` is nowhere. */
  readonly listen: Endpoint | undefined;
  /** `undefined` when the ledger is kept in the database. */
  readonly remote: RemoteLedger | undefined;
  /** What opens the gRPC service; `undefined` is the one in the data folder, made when it is first served. */
  readonly token: string | undefined;
  readonly tls: TlsFiles;
}

const DEFAULT_LISTEN = "127.0.0.1:50051";

interface Place {
  readonly folder: string;
  readonly dataFolder: string;
}

/** Reads `LEDGER_LISTEN`, `LEDGER_URL`, `LEDGER_TOKEN` and `LEDGER_TLS_*`. */
export function readLedger(
  environment: Environment,
  { folder, dataFolder }: Place,
  problems: Problems,
): LedgerConfig {
  const remote = readRemote(environment.LEDGER_URL, problems);
  const defaultListen = remote ? "off" : DEFAULT_LISTEN;
  const listen = readListen("LEDGER_LISTEN", environment.LEDGER_LISTEN || defaultListen, problems);
  const token = readToken(environment.LEDGER_TOKEN, { remote, dataFolder }, problems);
  const tls = readTlsFiles("LEDGER", { environment, folder }, problems);
  checkEncryption({ listen, remote, token, tls }, problems);
  return { listen, remote, token, tls };
}

function readRemote(url: string | undefined, problems: Problems): RemoteLedger | undefined {
  if (!url) return undefined;
  const [, encrypted, address = ""] = /^grpc(s?):\/\/([^/]+)\/?$/.exec(url) ?? [];
  const endpoint = parseEndpoint(address);
  if (!endpoint || endpoint.port === 0) {
    problems.add(["LEDGER_URL"], "names no ledger", "grpc://HOST:PORT or grpcs://HOST:PORT");
  }
  return { address, isEncrypted: encrypted === "s" };
}

/** A token that is not set may be in the data folder. Of a remote ledger it cannot be made up. */
function readToken(
  text: string | undefined,
  { remote, dataFolder }: { readonly remote: RemoteLedger | undefined; readonly dataFolder: string },
  problems: Problems,
): string | undefined {
  const refuse = (wrong: string, expected: string) => problems.add(["LEDGER_TOKEN"], wrong, expected);
  if (text && !isLedgerToken(text)) refuse("is no token", "at least 16 visible ASCII characters");
  if (text || !remote) return text || undefined;
  try {
    const found = findLedgerToken(dataFolder);
    if (found === undefined) refuse("is not set", "the token of the ledger that LEDGER_URL names");
    return found;
  } catch {
    refuse("is not set, and ledger-token in the data folder holds no token", "the token of the ledger");
    return undefined;
  }
}

/** What was set up to be encrypted must not be sent in plain text. */
function checkEncryption({ listen, remote, tls }: LedgerConfig, problems: Problems): void {
  const isClientOnly = remote?.isEncrypted && !listen;
  if (tls.ca && !tls.cert && !isClientOnly) {
    const expected = "LEDGER_TLS_CERT and LEDGER_TLS_KEY too";
    problems.add(["LEDGER_TLS_CA"], "asks for certificates of clients without one of the server", expected);
  }
  if (remote && !remote.isEncrypted && !listen && (tls.ca || tls.cert)) {
    problems.add(
      ["LEDGER_URL"],
      "is not encrypted, though LEDGER_TLS_ variables are set",
      "grpcs://HOST:PORT",
    );
  }
}
