import { formatAligned, formatCents, formatExact, plural, readUsd } from "../format.ts";
import type { Refusal } from "../queries/requests.ts";
import { Badge } from "./badge.tsx";

interface MoneyProps {
  /** Decimal USD with every nano, as the API sends it; `null` shows a dash. */
  readonly usd: string | null | undefined;
  /** Shows every digit, for prices and charges of single requests. */
  readonly isExact?: boolean;
  /** Shows 6 decimals, for columns of charges of single requests. */
  readonly isAligned?: boolean;
  /** Shows "+" before amounts above zero, for transfers. */
  readonly isSigned?: boolean;
}

/** An amount to the cent. Its exact nanos are in the title and in `data-nanos`. */
export function Money({ usd, isExact = false, isAligned = false, isSigned = false }: MoneyProps) {
  if (usd === null || usd === undefined) return <span>–</span>;
  const nanos = readUsd(usd);
  const text = (isAligned ? formatAligned : isExact ? formatExact : formatCents)(nanos);
  return (
    <data className="amount" value={usd} data-nanos={nanos.toString()} title={`${formatExact(nanos)} USD`}>
      {isSigned && nanos > 0n ? `+${text}` : text}
    </data>
  );
}

/** What a refused request needed or what there was, in the unit of its rule; a dash for rules without one. */
export function Amount({ quantity }: { readonly quantity: Refusal["needed"] }) {
  if (!quantity) return <>–</>;
  const { amount, unit } = quantity;
  if (unit === "usd") return <Money usd={amount} isExact />;
  return <>{plural(Number(amount), unit === "requests" ? "request" : "token")}</>;
}

/** What is available, with an alarm when that is nothing or below. */
export function Available({ usd }: { readonly usd: string }) {
  const nanos = readUsd(usd);
  return (
    <>
      <Money usd={usd} />
      {nanos <= 0n && (
        <>
          {" "}
          <Badge tone="bad">{nanos < 0n ? "overdrawn" : "empty"}</Badge>
        </>
      )}
    </>
  );
}
