// Values that are given out once and taken once, such as the challenge of a passkey. The database gets their digests.
import { and, eq, gt } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { digestOf } from "../keys/key.ts";

interface Given {
  /** Of the kind of values: `oidc`, `passkey`. */
  readonly kind: string;
  readonly secret: string;
}

/** Keeps a JSON value under a secret until it is taken, or for `lastsMs`. */
export async function giveOnce(
  { transact, tables: { proofs } }: Database,
  { value, lastsMs, ...given }: Given & { readonly value: object; readonly lastsMs: number },
  nowMs: number,
): Promise<void> {
  const at = new Date(nowMs);
  const row = {
    id: Bun.randomUUIDv7("hex", nowMs),
    identifier: identifierOf(given),
    value: JSON.stringify(value),
    expiresAt: new Date(nowMs + lastsMs),
    createdAt: at,
    updatedAt: at,
  };
  await transact(async (tx) => {
    await tx.insert(proofs).values(row);
  });
}

/** Takes the value of a secret. `undefined` for an unknown, old or taken one: of two at once, one gets it. */
export async function takeOnce(
  { transact, tables: { proofs } }: Database,
  given: Given,
  nowMs: number,
): Promise<unknown> {
  const isOpen = and(eq(proofs.identifier, identifierOf(given)), gt(proofs.expiresAt, new Date(nowMs)));
  const [taken] = await transact((tx) => tx.delete(proofs).where(isOpen).returning({ value: proofs.value }));
  return taken && JSON.parse(taken.value);
}

function identifierOf({ kind, secret }: Given): string {
  return digestOf(`${kind}:${secret}`);
}
