import { formatCount } from "../../format.ts";
import { Money } from "../../parts/money.tsx";
import type { Refusal } from "./queries.ts";

/** What a refused request needed or what there was, in the unit of its rule; a dash for rules without one. */
export function Amount({ quantity }: { readonly quantity: Refusal["needed"] }) {
  if (!quantity) return <>–</>;
  const { amount, unit } = quantity;
  if (unit === "usd") return <Money usd={amount} isExact />;
  const count = Number(amount);
  return (
    <>
      {formatCount(count)} {count === 1 ? unit.replace(/s$/, "") : unit}
    </>
  );
}
