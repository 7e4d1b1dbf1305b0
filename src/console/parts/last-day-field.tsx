import type { ComponentProps } from "react";
import { describeZone, formatDay } from "../times.ts";
import { Field } from "./field.tsx";

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
