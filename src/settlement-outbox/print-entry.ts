import type { Price } from "../domain/model.ts";
import type { OutcomeFacts, ReleaseRequest } from "../ledger/ledger.ts";
import type { JournalEntry } from "./entry.ts";

/** An entry as JSON; money is in decimal strings, because JSON's numbers would round it. */
type PrintedEntry = Omit<ReleaseRequest, "facts"> & {
  readonly kind: JournalEntry["kind"];
  readonly amount?: string | undefined;
  readonly facts: Omit<OutcomeFacts, "price"> & {
    readonly price?: Record<keyof Price, string> | undefined;
  };
};

/** Throws TypeError when the metadata is no JSON. */
export function printEntry({ kind, request }: JournalEntry): string {
  const { price } = request.facts;
  const printed: PrintedEntry = {
    ...request,
    kind,
    amount: "amount" in request ? String(request.amount) : undefined,
    facts: { ...request.facts, price: price && mapPrice(price, String) },
  };
  return JSON.stringify(printed);
}

/** The inverse of {@link printEntry}. Throws SyntaxError on anything else. */
export function parseEntry(text: string): JournalEntry {
  // Safe because what is parsed was printed above: its checksum was compared.
  const { kind, amount, facts, ...rest } = JSON.parse(text) as PrintedEntry;
  const price = facts.price && mapPrice(facts.price, BigInt);
  const request = { ...rest, facts: { ...facts, price } };
  if (kind !== "settle") return { kind, request };
  if (amount === undefined) throw new SyntaxError("A settlement without an amount");
  return { kind, request: { ...request, amount: BigInt(amount) } };
}

function mapPrice<From, To>(
  price: Readonly<Record<keyof Price, From>>,
  map: (each: From) => To,
): Record<keyof Price, To> {
  return {
    input: map(price.input),
    output: map(price.output),
    cachedInput: map(price.cachedInput),
    cacheWrite: map(price.cacheWrite),
    cacheWrite1h: map(price.cacheWrite1h),
  };
}
