import type { ClientFacts } from "./client.ts";

/** The variable in which every setting expects the secret of the key. */
export const KEY_VARIABLE = "TOLLGATE_KEY";
export const KEY_REFERENCE = `$${KEY_VARIABLE}`;

const PLAIN_WORD = /^[\w:/.@%+-]+$/;

/** Quotes a text for a shell. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Prints environment variables as lines of a shell. The reference to the key stays one. */
export function printExports(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}=${printWord(value)}`)
    .join("\n");
}

function printWord(value: string): string {
  return value === KEY_REFERENCE || PLAIN_WORD.test(value) ? value : quoteForShell(value);
}

/** Puts the line that gives the secret to a shell before its other lines, where the secret is known. */
export function withSecret({ secret }: ClientFacts, code: string): string {
  return secret === undefined ? code : `export ${KEY_VARIABLE}=${secret}\n${code}`;
}
