import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../../api.ts";
import { Choice, Field, FieldRow } from "../../parts/field.tsx";
import { describeZone } from "../../times.ts";
import { dayOf, type KeyValues } from "./key-values.ts";
import styles from "./keys.module.css";
import { modelsQuery } from "./queries.ts";

const PERIODS = [
  { value: "day", text: "per day" },
  { value: "week", text: "per week" },
  { value: "month", text: "per month" },
  { value: "total", text: "in total" },
];

interface KeyFieldsProps {
  readonly account: string;
  readonly values?: KeyValues | undefined;
  /** The API's refusal, shown at the field that it names. */
  readonly error?: Error | null;
}

/** Every field of a key. */
export function KeyFields({ account, values, error }: KeyFieldsProps) {
  return (
    <>
      <Field
        label="Name"
        name="name"
        hint="Where the key is used: “production”, “laptop of Kim”."
        defaultValue={values?.name}
        maxLength={100}
        autoComplete="off"
        error={errorAt(error, "name")}
        required
      />
      <fieldset className={styles.group}>
        <legend>Limits</legend>
        <LimitFields values={values} error={error} />
      </fieldset>
      <fieldset className={styles.group}>
        <legend>Models and expiry</legend>
        <ModelFields account={account} chosen={values?.models ?? null} />
        <Field
          label="Last day"
          name="expires_at"
          type="date"
          hint={`The key expires at the end of this day (${describeZone()}). Empty: never.`}
          defaultValue={values?.expires_at ? dayOf(values.expires_at) : ""}
          error={errorAt(error, "expires_at")}
          isOptional
        />
        <label className={styles.check}>
          <input type="checkbox" name="allows_clamp" defaultChecked={values?.allows_clamp ?? false} />
          Shorten answers to what limits and wallet still allow, instead of refusing them
        </label>
      </fieldset>
    </>
  );
}

interface LimitFieldsProps {
  readonly values?:
    | Pick<KeyValues, "spending_limit" | "requests_per_minute" | "tokens_per_minute" | "concurrent_requests">
    | undefined;
  readonly error?: Error | null | undefined;
  /** What an empty field means. Default: the configured limit of all keys. */
  readonly empty?: string;
}

/** The limits of a key; the simulator has the same. */
export function LimitFields({ values, error, empty = "default" }: LimitFieldsProps) {
  const count = (
    name: "requests_per_minute" | "tokens_per_minute" | "concurrent_requests",
    label: string,
  ) => (
    <Field
      label={label}
      name={name}
      type="number"
      min={0}
      step={1}
      inputMode="numeric"
      placeholder={empty}
      defaultValue={values?.[name] ?? ""}
      error={errorAt(error, name)}
    />
  );
  return (
    <>
      <SpendingFields limit={values?.spending_limit ?? null} error={error} />
      <FieldRow>
        {count("requests_per_minute", "Requests / minute")}
        {count("tokens_per_minute", "Tokens / minute")}
        {count("concurrent_requests", "Running at once")}
      </FieldRow>
    </>
  );
}

interface SpendingFieldsProps {
  readonly limit: KeyValues["spending_limit"];
  readonly error: Error | null | undefined;
}

function SpendingFields({ limit, error }: SpendingFieldsProps) {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zones = [...new Set(["UTC", own, limit?.time_zone ?? "UTC"])];
  return (
    <FieldRow>
      <Field
        label="Spending limit"
        name="amount_usd"
        affix="$"
        inputMode="decimal"
        placeholder="none"
        autoComplete="off"
        defaultValue={limit?.amount_usd}
        error={errorAt(error, "amount_usd") ?? errorAt(error, "spending_limit")}
      />
      <Choice label="Period" name="period" defaultValue={limit?.period ?? "month"} options={PERIODS} />
      <Choice
        label="Periods begin in"
        name="time_zone"
        defaultValue={limit?.time_zone ?? "UTC"}
        options={zones.map((zone) => ({ value: zone, text: zone }))}
        error={errorAt(error, "time_zone")}
      />
    </FieldRow>
  );
}

interface ModelFieldsProps {
  readonly account: string;
  readonly chosen: readonly string[] | null;
}

function ModelFields({ account, chosen }: ModelFieldsProps) {
  const [hasSome, setHasSome] = useState(chosen !== null);
  const { data } = useQuery(modelsQuery(account));
  // A key keeps models that the catalog no longer has.
  const ids = [...new Set([...(data?.items.map(({ id }) => id) ?? []), ...(chosen ?? [])])].sort();
  const scope = (value: "all" | "some", text: string) => (
    <label className={styles.check}>
      <input
        type="radio"
        name="scope"
        value={value}
        checked={hasSome === (value === "some")}
        onChange={() => setHasSome(value === "some")}
      />
      {text}
    </label>
  );
  return (
    <div role="group" aria-label="Models">
      <div className={styles.choices}>
        {scope("all", "Every model, also later ones")}
        {scope("some", "Only these models")}
      </div>
      {hasSome && (
        <div className={styles.checks}>
          {ids.map((id) => (
            <label key={id} className={styles.check}>
              <input type="checkbox" name="model" value={id} defaultChecked={chosen?.includes(id) ?? false} />
              {id}
            </label>
          ))}
        </div>
      )}
    </div>
  );
}

/** The API's sentence, where it names the field at its end. */
function errorAt(error: Error | null | undefined, field: string): string | undefined {
  if (!(error instanceof ApiError) || error.status !== 422) return undefined;
  return pathOf(error.message)
    .split(/[.[\]]/)
    .includes(field)
    ? "The server refuses this value."
    : undefined;
}

function pathOf(message: string): string {
  return message.slice(message.lastIndexOf(": ") + 1).trim();
}
