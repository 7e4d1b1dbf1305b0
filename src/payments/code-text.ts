// The text of a code: 20 symbols of Crockford's base 32, which are 100 random bits.
import { platform } from "../platform.ts";

/** Without I, L, O and U, which people confuse with other symbols. @see https://www.crockford.com/base32.html */
const SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const SYMBOL_COUNT = 20;
const GROUP = /.{5}(?=.)/g;
const CODE = new RegExp(`^[${SYMBOLS}]{${SYMBOL_COUNT}}$`);

/** Creates a code: 20 symbols without separators. */
export function createCode(): string {
  // A byte has 256 values, a multiple of 32: every symbol is as likely as any other.
  return Array.from(platform.randomBytes(SYMBOL_COUNT), (byte) => SYMBOLS.charAt(byte % SYMBOLS.length)).join(
    "",
  );
}

/** Prints a code for people: "7K3QM-00XYZ-ABCDE-12345". */
export function printCode(code: string): string {
  return code.replaceAll(GROUP, "$&-");
}

/**
 * Reads a code as a person types it: in any case, with blanks and hyphens anywhere, I and L for 1, O for 0.
 * Returns `undefined` for any other text.
 */
export function parseCode(text: string): string | undefined {
  const code = text
    .replaceAll(/[\s-]/g, "")
    .replaceAll(/[a-z]/g, (letter) => letter.toUpperCase())
    .replaceAll(/[IL]/g, "1")
    .replaceAll("O", "0");
  return CODE.test(code) ? code : undefined;
}

/** SHA-256 of a code in hex, which is stored in its place. 100 random bits cannot be guessed from it. */
export function digestOfCode(code: string): string {
  return Bun.CryptoHasher.hash("sha256", code, "hex");
}

/** The first 5 symbols, which may be displayed. The other 15 are 75 random bits. */
export function hintOfCode(code: string): string {
  return code.slice(0, 5);
}
