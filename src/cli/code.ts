import { COMMAND_LINE } from "../accounts/audit-trail.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import { createCodes } from "../payments/redeem-codes.ts";
import { printTime } from "../time.ts";
import { CommandError, type CommandResult } from "./command.ts";
import type { Storage } from "./storage.ts";

export interface CodeCreateOptions {
  readonly amount: Nanos;
  /** Default: 1. */
  readonly count?: number;
  readonly note?: string;
  readonly expiresInDays?: number;
}

const COUNT_MAX = 100;
const DAY_MS = 86_400_000;

/** Creates redeem codes and prints them, once. */
export async function runCodeCreate(
  { database }: Storage,
  { amount, count = 1, note, expiresInDays }: CodeCreateOptions,
  now: () => number = Date.now,
): Promise<CommandResult> {
  if (count < 1 || count > COUNT_MAX) {
    throw new CommandError(`Expected a count from 1 to ${COUNT_MAX}.`, 2);
  }
  const expiresAtMs = expiresInDays === undefined ? undefined : now() + expiresInDays * DAY_MS;
  const wanted = { amount, count, note, expiresAtMs };
  const issued = await createCodes({ database, now }, COMMAND_LINE, wanted);
  const codes = issued.map(({ id, code }) => ({ id, code, amount_usd: printUsd(amount) }));
  const noun = count === 1 ? "code" : "codes";
  return {
    json: { codes, note: note ?? null, expires_at: printTime(expiresAtMs) },
    text: [
      `Created ${count} redeem ${noun} of ${printUsd(amount)} USD, shown only now:`,
      ...codes.map(({ code }) => code),
    ].join("\n"),
  };
}
