import type { ComponentProps } from "react";
import { describeZone, formatDay } from "../times.ts";
import { Choice, Field } from "./field.tsx";

type AmountFieldProps = Omit<ComponentProps<typeof Field>, "label" | "affix" | "pattern"> & {
  /** Default: "Amount in USD". */
  readonly label?: string;
  /** Decimals that the server takes. Default: 9. */
  readonly decimals?: 2 | 9;
};

const DIGITS_MAX = 10;
/** One dollar to one reader and a thousand to another: "1.000". */
const AMBIGUOUS = "[1-9]\\d{0,2}\\.\\d{3}";

/**
 * An amount in USD, typed with or without its sign. {@link readAmount} reads it. An amount of which the point could
 * separate thousands is refused.
 */
export function AmountField({
  label = "Amount in USD",
  name,
  decimals = 9,
  defaultValue,
  ...field
}: AmountFieldProps) {
  return (
    <Field
      label={label}
      name={name ?? "amount_usd"}
      affix="$"
      inputMode="decimal"
      pattern={`\\s*\\$?(?!${AMBIGUOUS}\\s*$)\\d{1,${DIGITS_MAX}}(\\.\\d{1,${decimals}})?\\s*`}
      title={`USD with at most ${decimals} decimals after a point and no separators: 25.00 or 1000, not 1.000`}
      refusal="Enter an amount above 0."
      autoComplete="off"
      defaultValue={spellOut(defaultValue)}
      {...field}
    />
  );
}

/** An amount of ours with three decimals is shown with four: "1.2340". */
function spellOut(value: ComponentProps<"input">["defaultValue"]) {
  return new RegExp(`^${AMBIGUOUS}$`).test(String(value)) ? `${value}0` : value;
}

/** The amount as the API takes it: "$ 25.00" becomes "25.00". */
export function readAmount(text: string | undefined): string {
  return (text ?? "").replace(/[$\s]/g, "");
}

const SOURCES = [
  { value: "purchase", text: "purchase" },
  { value: "promotion", text: "promotion" },
  { value: "plan", text: "plan" },
  { value: "adjustment", text: "adjustment" },
] as const;

/** Where the money of a credit comes from. {@link readSource} reads it. */
export function SourceField({ usual = "purchase" }: { readonly usual?: "purchase" | "promotion" }) {
  return (
    <Choice
      label="Source"
      name="source"
      options={SOURCES}
      defaultValue={usual}
      hint="Credits of one end are spent in this order: promotion, plan, adjustment, purchase."
    />
  );
}

/** The source as the API takes it. */
export function readSource(text: string | undefined): (typeof SOURCES)[number]["value"] {
  return SOURCES.find(({ value }) => value === text)?.value ?? "purchase";
}

type LastDayFieldProps = Omit<ComponentProps<typeof Field>, "label" | "type" | "hint"> & {
  /** What ends: "The key expires". */
  readonly subject: string;
};

/** The last day on which something works, or none. `readLastDay` makes it a time. */
export function LastDayField({ subject, name, ...field }: LastDayFieldProps) {
  return (
    <Field
      label="Last day"
      name={name ?? "expires_at"}
      type="date"
      min={formatDay(Date.now())}
      hint={`${subject} at the end of this day (${describeZone()}). Empty: never.`}
      refusal="This day is over."
      isOptional
      {...field}
    />
  );
}

const PASSWORD_LENGTH = { min: 10, max: 128 };

interface NewPasswordFieldProps {
  readonly label?: string;
  readonly name?: string;
}

/** A password to be. The server counts its characters after normalisation, so that it decides. */
export function NewPasswordField({ label = "New password", name = "password" }: NewPasswordFieldProps) {
  return (
    <Field
      label={label}
      name={name}
      type="password"
      autoComplete="new-password"
      hint={`${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters.`}
      minLength={PASSWORD_LENGTH.min}
      maxLength={PASSWORD_LENGTH.max}
      required
    />
  );
}
