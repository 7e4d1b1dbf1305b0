import type { FormEvent } from "react";

/** The texts of a form by the names of its fields. */
export type FormValues = Readonly<Record<string, string>>;

/** Stops the browser's own submission and returns the texts of a form by the names of its fields. */
export function readForm(event: FormEvent<HTMLFormElement>): FormValues {
  event.preventDefault();
  const entries = [...new FormData(event.currentTarget)];
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
}
