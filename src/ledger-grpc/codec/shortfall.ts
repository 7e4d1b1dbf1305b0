import { NANOS_MAX, type Nanos } from "../../domain/money.ts";
import type { Shortfall } from "../../ledger/ledger.ts";

/** The names of the amounts in the metadata of `google.rpc.ErrorInfo`; each is whole nano-USD in decimal digits. */
const NAMES = { needed: "needed_nanos", available: "available_nanos", unheld: "unheld_nanos" } as const;

/** Encodes the amounts of a declined hold as the metadata of `google.rpc.ErrorInfo`. */
export function encodeShortfall({ needed, available, unheld }: Shortfall): Record<string, string> {
  return {
    [NAMES.needed]: String(needed),
    [NAMES.available]: String(available),
    [NAMES.unheld]: String(unheld),
  };
}

/** Returns `undefined` unless all three amounts are there, each from 0 to {@link NANOS_MAX}. */
export function decodeShortfall(metadata: Readonly<Record<string, string>>): Shortfall | undefined {
  const needed = decodeAmount(metadata[NAMES.needed]);
  const available = decodeAmount(metadata[NAMES.available]);
  const unheld = decodeAmount(metadata[NAMES.unheld]);
  if (needed === undefined || available === undefined || unheld === undefined) return undefined;
  return { needed, available, unheld };
}

function decodeAmount(text: string | undefined): Nanos | undefined {
  if (text === undefined || !/^\d{1,19}$/.test(text)) return undefined;
  const amount = BigInt(text);
  return amount <= NANOS_MAX ? amount : undefined;
}
