import { readUsd } from "../format.ts";
import { Badge } from "./badge.tsx";
import { Money } from "./money.tsx";

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
