import type { FormEvent } from "react";

/** Stops the browser's own submission and returns the texts of a form by the names of its fields. */
export function readForm(event: FormEvent<HTMLFormElement>): Readonly<Record<string, string>> {
  event.preventDefault();
  const entries = [...new FormData(event.currentTarget)];
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
}
