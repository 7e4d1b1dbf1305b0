import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Endpoint, parseEndpoint, readListen, readTlsFiles, type TlsFiles } from "./endpoint.ts";
import type { Environment } from "./placeholders.ts";
import type { Problems } from "./problems.ts";

/** The gRPC service of a ledger in another process. */
export interface RemoteLedger {
  /** "host:port" */
  readonly address: string;
  /** Whether the connection uses TLS. */
  readonly isEncrypted: boolean;
}

/** Where the ledger is, and how it is served. */
export interface LedgerConfig {
  /** Where the gRPC service listens; `undefined` when it is not served. */
  readonly listen: Endpoint | undefined;
  /** `undefined` when the ledger is in the database. */
  readonly remote: RemoteLedger | undefined;
  /**
   * Tokens of the gRPC service: the first is sent, all are accepted. None for the token file, created when the
   * ledger is first served.
   */
  readonly tokens: readonly string[];
  readonly tls: TlsFiles;
}

const DEFAULT_LISTEN = "127.0.0.1:50051";

interface Folders {
  readonly folder: string;
  readonly dataFolder: string;
}

/** Reads `LEDGER_LISTEN`, `LEDGER_URL`, `LEDGER_TOKEN` and `LEDGER_TLS_*`. */
export function readLedger(
  environment: Environment,
  { folder, dataFolder }: Folders,
  problems: Problems,
): LedgerConfig {
  const remote = readRemote(environment.LEDGER_URL, problems);
  const defaultListen = remote ? "off" : DEFAULT_LISTEN;
  const listen = readListen("LEDGER_LISTEN", environment.LEDGER_LISTEN || defaultListen, problems);
  const tokens = readTokens(environment, { remote, dataFolder }, problems);
  const tls = readTlsFiles("LEDGER", { environment, folder }, problems);
  checkEncryption({ listen, remote, tokens, tls }, problems);
  return { listen, remote, tokens, tls };
}

function readRemote(url: string | undefined, problems: Problems): RemoteLedger | undefined {
  if (!url) return undefined;
  const [, encrypted, address = ""] = /^grpc(s?):\/\/([^/]+)\/?$/.exec(url) ?? [];
  const endpoint = parseEndpoint(address);
  if (!endpoint || endpoint.port === 0) {
    problems.add(["LEDGER_URL"], "is not the URL of a ledger", "grpc://HOST:PORT or grpcs://HOST:PORT");
  }
  return { address, isEncrypted: encrypted === "s" };
}

/** Reads `LEDGER_TOKEN`. A remote ledger needs it set, or its token file in the data folder. */
export function readTokens(
  { LEDGER_TOKEN: text, LEDGER_TOKEN_FILE: file }: Environment,
  { remote, dataFolder }: { readonly remote: RemoteLedger | undefined; readonly dataFolder: string },
  problems: Problems,
): readonly string[] {
  const addProblem = (wrong: string, expected: string) => problems.add(["LEDGER_TOKEN"], wrong, expected);
  if (text) {
    const tokens = parseLedgerTokens(text);
    const expected = "at least 16 visible ASCII characters, or two such lines";
    if (!tokens) addProblem("is not a token", expected);
    return tokens ?? [];
  }
  // Without a value, the problem of a file is reported already.
  if (!remote || file) return [];
  try {
    const found = findLedgerTokens(dataFolder);
    if (found.length === 0) addProblem("is not set", "the token of the ledger that LEDGER_URL names");
    return found;
  } catch {
    addProblem("is not set, and ledger-token in the data folder holds no token", "the token of the ledger");
    return [];
  }
}

/** Reports TLS variables that would have no effect, so that their connection would be in plain text. */
function checkEncryption({ listen, remote, tls }: LedgerConfig, problems: Problems): void {
  const isClientOnly = remote?.isEncrypted && !listen;
  if (tls.ca && !tls.cert && !isClientOnly) {
    const expected = "LEDGER_TLS_CERT and LEDGER_TLS_KEY too";
    problems.add(
      ["LEDGER_TLS_CA"],
      "requires client certificates, but the server has no certificate",
      expected,
    );
  }
  if (remote && !remote.isEncrypted && !listen && (tls.ca || tls.cert)) {
    const wrong = "is not encrypted, though LEDGER_TLS_ variables are set";
    problems.add(["LEDGER_URL"], wrong, "grpcs://HOST:PORT");
  }
}

const TOKEN_FILE = "ledger-token";
/** Visible ASCII, because it is sent in a header. At least 16 characters, so that it cannot be guessed. */
const TOKEN = /^[\x21-\x7e]{16,4096}$/;

/** Two tokens are those of a rotation. */
const TOKENS_MAX = 2;

/** Parses one token, or two in a line each. Returns `undefined` for any other text. */
function parseLedgerTokens(text: string): readonly string[] | undefined {
  const tokens = text.split(/\r?\n/);
  return tokens.length <= TOKENS_MAX && tokens.every((token) => TOKEN.test(token)) ? tokens : undefined;
}

/** Reads the token file of a data folder. Returns none without the file; throws when it holds no token. */
export function findLedgerTokens(dataFolder: string): readonly string[] {
  const text = readIfExists(join(dataFolder, TOKEN_FILE));
  if (text === undefined) return [];
  const tokens = parseLedgerTokens(text.trim());
  if (tokens) return tokens;
  throw new Error(`The file ${TOKEN_FILE} of the data folder holds no token of at least 16 characters.`);
}

/**
 * Reads the token file of a data folder, and creates it when there is none, readable by this user alone.
 * Creation is atomic: processes that start at once get the same token.
 */
export function takeLedgerTokens(dataFolder: string): readonly string[] {
  const found = findLedgerTokens(dataFolder);
  if (found.length > 0) return found;
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  const token = randomBytes(32).toString("base64url");
  const draft = join(dataFolder, `${TOKEN_FILE}.${Bun.randomUUIDv7()}`);
  writeFileSync(draft, `${token}\n`, { mode: 0o600, flag: "wx", flush: true });
  try {
    // Unlike a rename, a link fails when another process was faster.
    linkSync(draft, join(dataFolder, TOKEN_FILE));
    return [token];
  } catch (error) {
    const existing = findLedgerTokens(dataFolder);
    if (existing.length === 0) throw error;
    return existing;
  } finally {
    rmSync(draft);
  }
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
