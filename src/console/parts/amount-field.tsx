import type { ComponentProps } from "react";
import { Field } from "./field.tsx";

type AmountFieldProps = Omit<ComponentProps<typeof Field>, "label" | "affix" | "pattern"> & {
  /** Default: "Amount in USD". */
  readonly label?: string;
  /** Decimals that the server takes. Default: 9. */
  readonly decimals?: 2 | 9;
};

const DIGITS_MAX = 10;

/** An amount in USD, typed with or without its sign. {@link readAmount} reads it. */
export function AmountField({ label = "Amount in USD", name, decimals = 9, ...field }: AmountFieldProps) {
  return (
    <Field
      label={label}
      name={name ?? "amount_usd"}
      affix="$"
      inputMode="decimal"
      pattern={`\\s*\\$?\\d{1,${DIGITS_MAX}}(\\.\\d{1,${decimals}})?\\s*`}
      title={`USD with at most ${decimals} decimals, such as 25.00`}
      refusal="Enter an amount above 0."
      autoComplete="off"
      {...field}
    />
  );
}

/** The amount as the API takes it: "$ 25.00" becomes "25.00". */
export function readAmount(text: string | undefined): string {
  return (text ?? "").replace(/[$\s]/g, "");
}
