import type { ComponentProps } from "react";
import { withPoint } from "../format.ts";
import { LOCALE } from "../locale.ts";
import { describeZone, formatDay } from "../times.ts";
import { printTypedAmount, readTypedAmount } from "../typed-amount.ts";
import { Choice, Field } from "./field.tsx";

type AmountFieldProps = Omit<ComponentProps<typeof Field>, "label" | "affix" | "pattern" | "title"> & {
  /** Default: "Amount in USD". */
  readonly label?: string;
  /** Decimals that the server takes. Default: 9. */
  readonly decimals?: 2 | 9;
};

/**
 * An amount in USD, typed as in the viewer's language, with or without its sign. `readAmount` reads it. An amount
 * whose mark could separate thousands as well as decimals is refused.
 */
export function AmountField({
  label = "Amount in USD",
  name,
  decimals = 9,
  defaultValue,
  onInput,
  ...field
}: AmountFieldProps) {
  return (
    <Field
      label={label}
      name={name ?? "amount_usd"}
      affix="$"
      inputMode="decimal"
      title={`USD with at most ${decimals} decimals: ${EXAMPLE}`}
      refusal="Enter an amount above 0."
      autoComplete="off"
      defaultValue={defaultValue === undefined ? undefined : printTypedAmount(String(defaultValue))}
      {...field}
      onInput={(event) => {
        const { currentTarget } = event;
        currentTarget.setCustomValidity(faultOf(currentTarget.value, decimals));
        onInput?.(event);
      }}
    />
  );
}

const EXAMPLE = `${withPoint("25.00")}, 1000 or ${LOCALE.group(1234)}${LOCALE.point}50`;
const FAULTS = {
  ambiguous: `This may be one dollar or a thousand. Write 1000, or ${withPoint("1.0000")} with four decimals.`,
  malformed: `Enter an amount such as ${EXAMPLE}.`,
};

/** What the browser says about a text that is no amount; "" for one that is, and for none at all. */
function faultOf(text: string, decimals: number): string {
  if (text.trim() === "") return "";
  const typed = readTypedAmount(text, { decimals });
  return "problem" in typed ? FAULTS[typed.problem] : "";
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
  readonly autoFocus?: boolean;
}

/** A password to be. The server counts its characters after normalisation, so that it decides. */
export function NewPasswordField({ label = "New password", autoFocus = false }: NewPasswordFieldProps) {
  return (
    <Field
      label={label}
      name="password"
      autoFocus={autoFocus}
      type="password"
      autoComplete="new-password"
      hint={`${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters.`}
      minLength={PASSWORD_LENGTH.min}
      maxLength={PASSWORD_LENGTH.max}
      required
    />
  );
}

/** A code of an authenticator app, or a recovery code. */
export function CodeField({ isOfApp = false }: { readonly isOfApp?: boolean }) {
  return (
    <Field
      label="Code"
      name="code"
      hint={isOfApp ? "Six digits." : "Six digits of your authenticator app, or a recovery code."}
      autoComplete="one-time-code"
      inputMode={isOfApp ? "numeric" : "text"}
      maxLength={40}
      required
      autoFocus
    />
  );
}
