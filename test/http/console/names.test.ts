import { beforeAll, describe, expect, test } from "bun:test";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { parseEmail, parseName } from "../../../src/cli/options.ts";
import { cleanName, NAME } from "../../../src/domain/name-characters.ts";
import { addMember, addPerson } from "../../accounts/actors.ts";
import { consoleForTests } from "./open-consoles.ts";

/** Control characters, ends of lines, marks that turn the direction of a text, and characters that show nothing. */
const HOSTILE = [
  ...["\u0007", "\u009b", "\n", "\u2028", "\u202e", "\u2066", "\u200e", "\u200f", "\u061c", "\u200b"],
  ...["\u200d", "\u200c", "\u00ad", "\u2060", "\ufe0f", "\ufeff", "\u3164", "\u{e0041}", "\u{1d173}"],
];
/** More of them: fillers of Hangul, and selectors behind a character that has no other look. */
const INVISIBLE = ["\u115f", "\u1160", "\uffa0", "\ufe0f", "\u{e0100}", "\u{e0fff}"];
const FOREIGN = ["شركة", "חברה", "👨‍👩‍👧", "株式会社", "Zoë <b>", "می‌خواهم", "葛\u{e0100}城", "❤️ 1️⃣"];

describe("names", () => {
  const console = consoleForTests("sqlite");
  let operator: Actor;
  let owner: Actor;
  let accountId: string;
  beforeAll(async () => {
    ({ id: accountId } = await console.newAccount());
    operator = await addPerson(console.parts.database, { isOperator: true });
    owner = await addMember(console.parts.database, accountId, "owner");
  });

  /** Gives a name to a new account, key, management key and code, and to the person itself. */
  const giveEverywhere = (name: string) =>
    Promise.all([
      console.call(operator, "POST", "/accounts", { name }),
      console.call(owner, "POST", `/accounts/${accountId}/keys`, { name }),
      console.call(owner, "POST", `/accounts/${accountId}/management-keys`, { name, role: "viewer" }),
      console.call(owner, "PATCH", "/me", { name }),
      console.call(operator, "POST", "/operator/codes", { amount_usd: "1.00", note: name }),
      console.call(operator, "POST", `/operator/accounts/${accountId}/resume`, { reason: name }),
    ]);

  test("with characters that could disguise what stands behind them are refused", async () => {
    for (const character of HOSTILE) {
      const answers = await giveEverywhere(`a${character}b`);
      expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(422));
    }
  });

  test("of any script are taken as they are", async () => {
    for (const name of FOREIGN) {
      const answers = await giveEverywhere(name);
      expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
      expect(answers[0]?.json.name).toBe(name);
    }
  });

  test("with any character that Unicode lets show nothing are refused behind ASCII, but for keycaps", () => {
    for (let code = 0; code <= 0x10ffff; code += 1) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const character = String.fromCodePoint(code);
      if (/\p{Default_Ignorable_Code_Point}/u.test(character))
        expect(NAME.test(`a${character}b`)).toBe(false);
    }
  });

  test.each([...HOSTILE, ...INVISIBLE, "\ud800"])(
    "of imported keys are cleaned of such characters: %j",
    (character) => {
      expect(cleanName(`a${character}b`)).toMatch(/^a.?b$/);
      expect(cleanName(`${character}${"x".repeat(99)}👨‍👩‍👧`)).toMatch(NAME);
      expect(cleanName(character.repeat(3))).toMatch(/^\ufffd*$/);
      for (const name of FOREIGN) expect(cleanName(`${name}${character}`)).toMatch(NAME);
    },
  );

  test("of any script are imported as they are", () => {
    for (const name of FOREIGN) expect(cleanName(` ${name} `)).toBe(name);
  });

  test("with such characters are refused by the command line as well", () => {
    for (const character of [...HOSTILE, ...INVISIBLE]) expect(() => parseName(`a${character}b`)).toThrow();
    for (const name of FOREIGN) expect(parseName(name)).toBe(name);
    expect(() => parseEmail("a\u202eb@example.com")).toThrow();
  });
});
