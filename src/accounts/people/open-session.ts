import type { Database, Db } from "../../db/database.ts";
import { createToken, digestOf } from "../keys/key.ts";
import { cookieFormOf, printCookie, SESSION_S, signToken } from "./session-cookie.ts";
import { boundSessions } from "./sessions.ts";
import type { Visitor } from "./sign-in.ts";

const AGENT_LENGTH_MAX = 300;

/** A session that is opened without a password. */
export interface NewSession {
  readonly personId: string;
  readonly visitor: Visitor;
  /** The identity at a provider that opens it; such a session is not renewed. */
  readonly identityId?: string | undefined;
  /** What opens it, where no provider does. */
  readonly way?: "passkey" | undefined;
  /** Default: 14 days. */
  readonly lastsMs?: number | undefined;
  /** When the person last gave a proof; `undefined` where that is unknown. */
  readonly confirmedAtMs: number | undefined;
}

/** A session to be written, and what its browser keeps of it. */
export interface SessionToOpen {
  readonly cookie: string;
  /** Writes the session in a transaction. */
  write(tx: Db): Promise<void>;
}

/** Makes a session for a person: its row, and the value of `set-cookie`. The database gets a digest of the token. */
export async function prepareSession(
  database: Database,
  publicUrl: string,
  { personId, visitor, identityId, way, lastsMs = SESSION_S * 1_000, confirmedAtMs }: NewSession,
  nowMs: number,
): Promise<SessionToOpen> {
  const token = createToken();
  const at = new Date(nowMs);
  const row = {
    id: Bun.randomUUIDv7("hex", nowMs),
    userId: personId,
    token: digestOf(token),
    expiresAt: new Date(nowMs + lastsMs),
    ipAddress: visitor.address ?? "",
    userAgent: visitor.headers.get("user-agent")?.slice(0, AGENT_LENGTH_MAX) ?? "",
    createdAt: at,
    updatedAt: at,
    confirmedAtMs: confirmedAtMs ?? null,
    identityId: identityId ?? null,
    way: way ?? null,
  };
  const value = await signToken(database, token);
  return {
    cookie: printCookie(value, cookieFormOf(publicUrl), Math.floor(lastsMs / 1_000)),
    async write(tx) {
      await tx.insert(database.tables.sessions).values(row);
    },
  };
}

/** Opens a session for a person, `first` in the same transaction. Returns the value of `set-cookie`. */
export async function openSession(
  database: Database,
  publicUrl: string,
  { first, ...session }: NewSession & { readonly first: (tx: Db) => Promise<void> },
  nowMs: number,
): Promise<string> {
  const { cookie, write } = await prepareSession(database, publicUrl, session, nowMs);
  await database.transact(async (tx) => {
    await first(tx);
    await write(tx);
  });
  await boundSessions(database, session.personId);
  return cookie;
}
