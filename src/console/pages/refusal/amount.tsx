import { plural } from "../../format.ts";
import { Money } from "../../parts/money.tsx";
import type { Refusal } from "./queries.ts";

/** What a refused request needed or what there was, in the unit of its rule; a dash for rules without one. */
export function Amount({ quantity }: { readonly quantity: Refusal["needed"] }) {
  if (!quantity) return <>–</>;
  const { amount, unit } = quantity;
  if (unit === "usd") return <Money usd={amount} isExact />;
  return <>{plural(Number(amount), unit === "requests" ? "request" : "token")}</>;
}
