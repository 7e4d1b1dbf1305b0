import { type Static, Type } from "@sinclair/typebox";
import { type Nanos, parseUsd } from "../domain/money.ts";
import { SIGNING_SECRET } from "../domain/signed-message.ts";
import type { Path, Problems } from "./problems.ts";
import { Mapping } from "./schema-parts.ts";

/** A program of the operator's own that tops up wallets by signed calls. */
export interface PaymentCallerConfig {
  /** The key in the file. */
  readonly id: string;
  /** One, or two while they are rotated. */
  readonly secrets: readonly string[];
  /** The most of one call. */
  readonly callMax: Nanos;
  /** The most of one UTC day. */
  readonly dayMax: Nanos;
}

const Secret = Type.String({
  pattern: SIGNING_SECRET,
  description: "whsec_ and 24 to 64 random bytes in base64",
});
const Amount = Type.String({
  pattern: "^\\d{1,9}(\\.\\d{1,9})?$",
  description: 'USD in quotes, such as "500.00"',
});

/** The shape of `payments.callers`. */
export const PaymentCallers = Type.Record(
  Type.String(),
  Mapping({ secret: Secret, old_secret: Type.Optional(Secret), max_usd: Amount, max_day_usd: Amount }),
  { maxProperties: 16, description: "a mapping of at most 16 names" },
);

type Callers = Static<typeof PaymentCallers>;
/** Members that did not fit the schema are `undefined`. */
type Unchecked = { readonly [Key in keyof Callers[string]]?: Callers[string][Key] | undefined };

/** Reads the callers of a checked file. */
export function readPaymentCallers(callers: Callers = {}): readonly PaymentCallerConfig[] {
  return Object.entries(callers).map(([id, entry]) => ({
    id,
    secrets: [entry.secret, ...(entry.old_secret === undefined ? [] : [entry.old_secret])],
    callMax: parseUsd(entry.max_usd),
    dayMax: parseUsd(entry.max_day_usd),
  }));
}

/**
 * Reports names, maxima and secrets that are used twice: a call is no proof of its caller where two have one secret. No
 * text quotes a secret.
 */
export function checkPaymentCallers(
  callers: Readonly<Record<string, Unchecked | undefined>> = {},
  problems: Problems,
): void {
  const secrets = new Set<string>();
  for (const [id, entry = {}] of Object.entries(callers)) {
    const path = ["payments", "callers", id];
    if (!/^[a-z\d][a-z\d_-]{0,31}$/.test(id)) {
      const expected = "1 to 32 lower-case letters, digits, dashes and underscores";
      problems.add(path, "is not a valid name of a caller", expected);
    }
    checkMaxima(path, entry, problems);
    for (const key of ["secret", "old_secret"] as const) {
      const secret = entry[key];
      if (secret === undefined) continue;
      if (secrets.has(secret))
        problems.add([...path, key], "is a secret of another key too", "another secret");
      secrets.add(secret);
    }
  }
}

function checkMaxima(path: Path, { max_usd: call, max_day_usd: day }: Unchecked, problems: Problems): void {
  if (call === undefined || day === undefined) return;
  if (parseUsd(call) === 0n) problems.add([...path, "max_usd"], "is 0", "USD above 0");
  if (parseUsd(day) < parseUsd(call)) {
    problems.add([...path, "max_day_usd"], "is less than max_usd", "at least max_usd");
  }
}
