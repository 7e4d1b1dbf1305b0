import { printUsd } from "../../domain/money.ts";
import { type ForecastLimit, forecastBudget, type RecentSpending } from "../budget-forecast.ts";
import { readUsd } from "../format.ts";
import { describePeriod, limitFieldNames, type SpendingLimitValues } from "../spending-limits.ts";
import { DAY_MS } from "../times.ts";
import { Bar } from "./bar.tsx";
import type { Column } from "./data-table.tsx";
import { Choice, FieldRow } from "./field.tsx";
import { Money } from "./money.tsx";
import styles from "./stack.module.css";
import { Time } from "./time.tsx";
import { AmountField } from "./typed-fields.tsx";

/** Windows of 5 hours and of a week are those of providers' subscriptions. The API takes any number of hours. */
const PERIODS = ["day", "week", "month", "total", "5h", "168h"];

function periodOptions(present: string) {
  return [...new Set([...PERIODS, present])].map((value) => ({ value, text: describePeriod(value) }));
}

interface SpendingFieldsProps {
  readonly limit: SpendingLimitValues | null;
  /** What is limited, as the API names it. Default: the only limit of the form. */
  readonly name?: string;
  /** Default: "Spending limit". */
  readonly label?: string;
  readonly hint: string;
}

/** The amount, the period and the zone of a spending limit. */
export function SpendingFields({ limit, name, label = "Spending limit", hint }: SpendingFieldsProps) {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zones = [...new Set(["UTC", own, limit?.time_zone ?? "UTC"])];
  const names = limitFieldNames(name);
  // Of several limits in one form, each field says whose it is.
  const nameOf = (text: string) => (name === undefined ? {} : { "aria-label": `${text}: ${label}` });
  return (
    <FieldRow>
      <AmountField
        label={label}
        name={names.amount}
        placeholder="none"
        hint={hint}
        defaultValue={limit?.amount_usd}
        refusal="Enter an amount in USD, such as 25.00."
      />
      <Choice
        label="Period"
        {...nameOf("Period")}
        name={names.period}
        defaultValue={limit?.period ?? "month"}
        options={periodOptions(limit?.period ?? "month")}
      />
      <Choice
        label="Periods begin in"
        {...nameOf("Periods begin in")}
        name={names.zone}
        defaultValue={limit?.time_zone ?? "UTC"}
        options={zones.map((zone) => ({ value: zone, text: zone }))}
      />
    </FieldRow>
  );
}

/** A limit with what it has counted, as the API answers it. */
interface CountedLimit extends ForecastLimit {
  readonly remaining_usd: string;
}

interface SpendingBarProps {
  readonly limit: CountedLimit;
  /** What is limited, for assistive technology. */
  readonly label: string;
  /** For tables: what is left of how much. */
  readonly isShort?: boolean;
}

/** What a limit has counted: spent, on hold and left, and when it begins anew. */
export function SpendingBar({ limit, label, isShort = false }: SpendingBarProps) {
  const { amount_usd, period, used_usd, held_usd, remaining_usd, resets_at } = limit;
  const note = resets_at && !isShort && (
    <>
      resets <Time at={resets_at} as="moment" />
    </>
  );
  const max = readUsd(amount_usd);
  const taken = readUsd(used_usd) + readUsd(held_usd);
  const share = max === 0n ? 1 : Number(taken) / Number(max);
  const isExact = max < 1_000_000_000n;
  return (
    <div className={styles.part}>
      <Bar share={share} label={label} note={note}>
        {isShort ? (
          <>
            <Money usd={remaining_usd} isExact={isExact} /> left of{" "}
            <Money usd={amount_usd} isExact={isExact} /> {describePeriod(period)}
          </>
        ) : (
          <>
            <Money usd={used_usd} isExact={isExact} /> spent, <Money usd={held_usd} isExact={isExact} /> on
            hold · <Money usd={remaining_usd} isExact={isExact} /> left
          </>
        )}
      </Bar>
      <Forecast limit={limit} isShort={isShort} />
    </div>
  );
}

interface LimitCellProps {
  readonly limit: CountedLimit | null | undefined;
  readonly label: string;
  /** What stands for no limit. Default: "none". */
  readonly none?: string;
}

/** A spending limit in a cell of a table: the amount left of its amount, or that there is no limit. */
export function LimitCell({ limit, label, none = "none" }: LimitCellProps) {
  if (!limit) return <span className={styles.soft}>{none}</span>;
  return <SpendingBar limit={limit} label={label} isShort />;
}

/** A key in a list, with its limit. */
interface SpendingKey {
  readonly name: string;
  readonly spending_limit: CountedLimit | null;
  readonly spent_30d_usd: string;
}

/** What a key may still spend, and what it spent. */
export const SPENDING_COLUMNS: readonly Column<SpendingKey>[] = [
  {
    id: "limit",
    order: ({ spending_limit }) => spending_limit && readUsd(spending_limit.remaining_usd),
    header: "Spending limit",
    cell: ({ name, spending_limit }) => (
      <LimitCell limit={spending_limit} label={`Spending limit of ${name}`} />
    ),
  },
  {
    id: "spent",
    order: ({ spent_30d_usd }) => readUsd(spent_30d_usd),
    header: "Spent in 30 d",
    align: "end",
    cell: ({ spent_30d_usd }) => <Money usd={spent_30d_usd} />,
  },
];

interface ForecastProps {
  readonly limit: ForecastLimit;
  /** For a limit in total: what was spent lately. */
  readonly recent?: RecentSpending | undefined;
  /** For tables: only what is reached too soon. */
  readonly isShort?: boolean;
}

/** Where a limit comes to at its rate so far; nothing where that is unknown. */
export function Forecast({ limit, recent, isShort = false }: ForecastProps) {
  const forecast = forecastBudget(limit, Date.now(), recent);
  if (!forecast || (isShort && forecast.kind === "kept")) return null;
  if (forecast.kind === "kept") {
    return (
      <small className={styles.soft}>
        At this rate <Money usd={printUsd(forecast.spent)} /> at its end.
      </small>
    );
  }
  const at = new Date(Math.min(forecast.atMs, LAST_MS)).toISOString();
  const isSoon = forecast.atMs - Date.now() < 2 * DAY_MS;
  return (
    <small className={styles.warning}>
      {isShort ? "reaches " : "At this rate it reaches "}
      <Money usd={limit.amount_usd} /> on <Time at={at} as={isSoon ? "moment" : "date"} />
    </small>
  );
}

/** Later forecasts are of no use, and no dates. */
const LAST_MS = 8_640_000_000_000_000;
