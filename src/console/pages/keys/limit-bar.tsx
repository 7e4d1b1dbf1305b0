import { formatCount, readUsd } from "../../format.ts";
import { Bar } from "../../parts/bar.tsx";
import { Money } from "../../parts/money.tsx";
import { Time } from "../../parts/time.tsx";
import styles from "./keys.module.css";
import type { KeyPageData } from "./queries.ts";

export type Limit = KeyPageData["limits"][number];

const NANOS_PER_USD = 1_000_000_000n;
const NAMES: Readonly<Record<Limit["limit"], string>> = {
  key_spending: "Spending limit of the key",
  key_requests: "Requests per minute of the key",
  key_tokens: "Tokens per minute of the key",
  key_concurrency: "Requests of the key at once",
  account_requests: "Requests per minute of the account",
  account_tokens: "Tokens per minute of the account",
  account_concurrency: "Requests of the account at once",
  account_spending: "Spending limit of the account",
  wallet: "Wallet",
};

interface LimitBarProps {
  readonly limit: Limit;
  /** For lists of keys: what is left, in one line and without the name. */
  readonly isShort?: boolean;
}

/** The name of a limit in a list of keys. */
export function shortNameOf({ limit }: Limit): string {
  return NAMES[limit].replace(" of the key", "");
}

/** A limit with its name, what is used and left of it, and when it resets. */
export function LimitBar({ limit, isShort = false }: LimitBarProps) {
  const { share, unit, resets_at, used, max, remaining } = limit;
  const name = NAMES[limit.limit];
  const note = resets_at && (
    <>
      resets <Time at={resets_at} as={unit === "usd" ? "moment" : "relative"} />
    </>
  );
  const left = (
    <>
      <Amount of={limit} value={remaining} /> {isShort && shortUnitOf(limit)} left
    </>
  );
  if (isShort) {
    return (
      <Bar share={share} label={name} note={note}>
        {left}
      </Bar>
    );
  }
  return (
    <div className={styles.limit}>
      <span className={styles.limitName}>{name}</span>
      <Bar share={share} label={name} note={note}>
        <Amount of={limit} value={used} /> of <Amount of={limit} value={max} /> {unitOf(limit)} · {left}
      </Bar>
    </div>
  );
}

/** Money to the cent, and of limits below a dollar every digit. */
function Amount({ of: { unit, max }, value }: { readonly of: Limit; readonly value: string }) {
  if (unit !== "usd") return formatCount(Number(value));
  return <Money usd={value} isExact={readUsd(max) < NANOS_PER_USD} />;
}

function unitOf({ limit, unit }: Limit): string {
  if (unit === "usd") return "";
  return limit.endsWith("_concurrency") ? "running" : unit;
}

function shortUnitOf({ limit, unit }: Limit): string {
  if (unit === "usd") return "";
  return limit.endsWith("_concurrency") ? "at once" : unit;
}
