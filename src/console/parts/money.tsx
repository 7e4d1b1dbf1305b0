import { formatAligned, formatCents, formatExact, readUsd } from "../format.ts";

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
