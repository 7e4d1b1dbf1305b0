import { formatCount, localise, plural, readUsd } from "../../format.ts";
import { Bar } from "../../parts/bar.tsx";
import { Icon } from "../../parts/icons.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import type { KeyPageData } from "../../queries/keys.ts";
import pageStyles from "./key.module.css";
import styles from "./keys.module.css";

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
  parent_key_spending: "Spending limit of a key above",
  project_spending: "Spending limit of the project",
  member_spending: "Spending limit of the member",
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

/** Limits that are shown at once; the others are behind a press. */
const SHOWN_MAX = 3;

/** What binds the key, tightest first, and what its next request would be refused for. */
export function BindingLimits({ shown }: { readonly shown: KeyPageData }) {
  const { limits } = shown;
  const others = limits.slice(SHOWN_MAX);
  return (
    <Panel title="What binds this key" note="The tightest limit comes first.">
      <div className={pageStyles.stack}>
        <NextRequest shown={shown} />
        <LimitBars limits={limits.slice(0, SHOWN_MAX)} />
        {others.length > 0 && (
          <details className={pageStyles.others}>
            <summary>{plural(others.length, "more limit")} with more room</summary>
            <LimitBars limits={others} />
          </details>
        )}
      </div>
    </Panel>
  );
}

function NextRequest({ shown: { next_refusal, bound_by } }: { readonly shown: KeyPageData }) {
  if (next_refusal) {
    return (
      <div className={pageStyles.refused} role="status">
        <Icon name="refusal" size={20} />
        <div>
          <strong>The next request would be refused.</strong> {localise(next_refusal.text)}{" "}
          <code>{next_refusal.code}</code>
        </div>
      </div>
    );
  }
  return (
    <div className={pageStyles.admitted} role="status">
      <Icon name="check" size={20} />
      <div>
        <strong>The next request would be admitted.</strong> {localise(bound_by.text)}
      </div>
    </div>
  );
}

function LimitBars({ limits }: { readonly limits: readonly Limit[] }) {
  return (
    <ul className={pageStyles.limits}>
      {limits.map((limit, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two limits may bind the same owner with the same numbers.
        <li key={`${limit.limit} ${index}`}>
          <LimitBar limit={limit} />
        </li>
      ))}
    </ul>
  );
}
