import { LOCALE, type Locale } from "./locale.ts";

/** An amount as a person typed it: its text for the API, or why it is none. */
export type TypedAmount = { readonly usd: string } | { readonly problem: "ambiguous" | "malformed" };

const WHOLE_DIGITS_MAX = 10;
/** One dollar to one reader and a thousand to another: "1.000", "12,500". */
const AMBIGUOUS = /^[1-9]\d{0,2}[.,]\d{3}$/;
/** What separates thousands and is no decimal point in any language: blanks and apostrophes. */
const CLEAR_SEPARATORS = /[\s'’]/g;

/**
 * Reads an amount with or without its sign. Thousands may be separated as in the locale: "1,234.56" in English,
 * "1.234,56" in German. A point also separates decimals in every locale, as in amounts that were copied.
 */
export function readTypedAmount(
  text: string,
  { decimals = 9, locale = LOCALE }: { readonly decimals?: number; readonly locale?: Locale } = {},
): TypedAmount {
  const number = text.replace(CLEAR_SEPARATORS, "").replace(/^(\$|USD)|(\$|USD)$/i, "");
  if (AMBIGUOUS.test(number)) return { problem: "ambiguous" };
  const usd = /^\d+(\.\d+)?$/.test(number) ? number : readLocal(number, locale);
  const [whole = "", fraction = ""] = usd?.split(".") ?? [];
  if (whole === "" || whole.length > WHOLE_DIGITS_MAX || fraction.length > decimals) {
    return { problem: "malformed" };
  }
  return { usd: fraction === "" ? whole : `${whole}.${fraction}` };
}

/** Groups have two or three digits, as some languages do, and the last one three. */
function readLocal(number: string, { point }: Locale): string | undefined {
  const [group, decimal] = point === "," ? ["\\.", ","] : [",", "\\."];
  const shape = new RegExp(`^(\\d+|\\d{1,3}(?:${group}\\d{2,3})*${group}\\d{3})(?:${decimal}(\\d+))?$`);
  const [, whole, fraction] = shape.exec(number) ?? [];
  if (whole === undefined) return undefined;
  const digits = whole.replace(/[.,]/g, "");
  return fraction === undefined ? digits : `${digits}.${fraction}`;
}

/** Prints an amount of the API as a field shows it; three decimals have a fourth: "1,2340" in German. */
export function printTypedAmount(usd: string, { point }: Locale = LOCALE): string {
  return `${usd}${AMBIGUOUS.test(usd) ? "0" : ""}`.replace(".", point);
}

/** The amount as the API takes it: "$ 1,234.50" becomes "1234.50". The API refuses a text that is no amount. */
export function readAmount(text = ""): string {
  const typed = readTypedAmount(text);
  if ("usd" in typed) return typed.usd;
  // The API would take "1.000" as one dollar.
  return typed.problem === "ambiguous" ? `?${text}` : text.trim();
}
