import type { PatternName } from "../domain/recording-rules.ts";

// Every expression here begins at few places or is short, so that no text takes time out of proportion to its length.

/** A text in which `mark` stands for what a pattern found. */
type Replace = (text: string, mark: string, onMatch: () => void) => string;

const EMAIL = /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu;
const CARD = /(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)/g;

/** A secret begins a word. In JSON within a text, a line feed before it is a backslash and a letter. */
const BEGIN = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))`;
const SECRETS = new RegExp(
  [
    String.raw`${BEGIN}(?:sk|rk|pk)[-_][\w-]{16,}`,
    `${BEGIN}(?:AKIA|ASIA)[0-9A-Z]{16}`,
    `${BEGIN}gh[pousr]_[A-Za-z0-9]{20,}`,
    String.raw`${BEGIN}(?:github_pat|glpat|hf|whsec)[-_][\w-]{16,}`,
    String.raw`${BEGIN}xox[abeprs]-[\w-]{10,}`,
    String.raw`${BEGIN}AIza[\w-]{30,}`,
    String.raw`${BEGIN}ya29\.[\w-]{20,}`,
    String.raw`${BEGIN}eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}`,
    String.raw`(?<=\b[Bb]earer )[\w.~+/=-]{16,}`,
    // The password of an address.
    String.raw`(?<=:\/\/)[^\s\/:@]{1,100}:[^\s\/@]{1,200}(?=@)`,
  ].join("|"),
  "g",
);

const PRIVATE_KEY_BEGIN = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/g;
const PRIVATE_KEY_END = /-----END [A-Z ]{0,40}PRIVATE KEY-----/g;

export const PATTERNS: Readonly<Record<PatternName, Replace>> = {
  email: (text, mark, onMatch) => (text.includes("@") ? replaceAll(text, EMAIL, mark, onMatch) : text),
  card: (text, mark, onMatch) =>
    text.replace(CARD, (digits) => {
      if (!hasCheckDigit(digits)) return digits;
      onMatch();
      return mark;
    }),
  secret: (text, mark, onMatch) =>
    replaceAll(replacePrivateKeys(text, mark, onMatch), SECRETS, mark, onMatch),
};

function replaceAll(text: string, pattern: RegExp, mark: string, onMatch: () => void): string {
  return text.replace(pattern, () => {
    onMatch();
    return mark;
  });
}

/** Replaces private keys in PEM. One without an end goes to the end of the text. */
function replacePrivateKeys(text: string, mark: string, onMatch: () => void): string {
  let printed = "";
  let from = 0;
  for (;;) {
    PRIVATE_KEY_BEGIN.lastIndex = from;
    const begin = PRIVATE_KEY_BEGIN.exec(text);
    if (!begin) return from === 0 ? text : printed + text.slice(from);
    PRIVATE_KEY_END.lastIndex = begin.index;
    const end = PRIVATE_KEY_END.exec(text);
    printed += text.slice(from, begin.index) + mark;
    from = end ? end.index + end[0].length : text.length;
    onMatch();
  }
}

/** Whether the last digit is that of the others, by Luhn's sum. */
function hasCheckDigit(text: string): boolean {
  let sum = 0;
  let isDoubled = false;
  for (let index = text.length - 1; index >= 0; index -= 1) {
    const digit = text.charCodeAt(index) - 48;
    if (digit < 0 || digit > 9) continue;
    const value = isDoubled ? digit * 2 : digit;
    sum += value > 9 ? value - 9 : value;
    isDoubled = !isDoubled;
  }
  return sum > 0 && sum % 10 === 0;
}
