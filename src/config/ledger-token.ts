import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILE = "ledger-token";
/** Sent in a header, so visible ASCII; shorter ones could be guessed. */
const TOKEN = /^[\x21-\x7e]{16,4096}$/;

/** Whether a text may be the token that opens the ledger's gRPC service. */
export function isLedgerToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The token of a data folder; `undefined` without one. Throws when its file holds something else. */
export function findLedgerToken(dataFolder: string): string | undefined {
  const text = readIfThere(join(dataFolder, FILE));
  if (text === undefined) return undefined;
  const token = text.trim();
  if (isLedgerToken(token)) return token;
  throw new Error(`The file ${FILE} of the data folder holds no token of at least 16 characters.`);
}

/**
 * The token of a data folder, made when there is none. Several processes that start at once get the
 * same one: it appears whole under its name, or not at all. Only this user may read it.
 */
export function takeLedgerToken(dataFolder: string): string {
  const found = findLedgerToken(dataFolder);
  if (found !== undefined) return found;
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  const token = randomBytes(32).toString("base64url");
  const draft = join(dataFolder, `${FILE}.${Bun.randomUUIDv7()}`);
  writeFileSync(draft, `${token}\n`, { mode: 0o600, flag: "wx", flush: true });
  try {
    // Unlike a rename, this fails when another process was faster.
    linkSync(draft, join(dataFolder, FILE));
    return token;
  } catch (error) {
    const others = findLedgerToken(dataFolder);
    if (others === undefined) throw error;
    return others;
  } finally {
    rmSync(draft);
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
