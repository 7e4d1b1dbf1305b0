import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Actor } from "../../../src/accounts/actor.ts";
import { parseEmail, parseName } from "../../../src/cli/options.ts";
import { addMember, addPerson } from "../../accounts/actors.ts";
import type { TestConsole } from "../../support/test-console.ts";
import { openConsoleOn } from "./open-consoles.ts";

/** Control characters, ends of lines, marks that turn the direction of a text, and characters that show nothing. */
const HOSTILE = [
  ...["\u0007", "\u009b", "\n", "\u2028", "\u202e", "\u2066", "\u200e", "\u200f", "\u061c", "\u200b"],
  ...["\u200d", "\u200c", "\u00ad", "\u2060", "\u206f", "\ufeff", "\u3164", "\u{e0041}", "\u{1d173}"],
];
const FOREIGN = ["شركة", "חברה", "👨‍👩‍👧", "株式会社", "Zoë <b>", "می‌خواهم"];

describe("names", () => {
  let console: TestConsole;
  let operator: Actor;
  let owner: Actor;
  let accountId: string;
  beforeAll(async () => {
    console = await openConsoleOn("sqlite");
    ({ id: accountId } = await console.newAccount());
    operator = await addPerson(console.parts.database, { isOperator: true });
    owner = await addMember(console.parts.database, accountId, "owner");
  });
  afterAll(() => console.stop());

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

  test("with such characters are refused by the command line as well", () => {
    for (const character of HOSTILE) expect(() => parseName(`a${character}b`)).toThrow();
    for (const name of FOREIGN) expect(parseName(name)).toBe(name);
    expect(() => parseEmail("a\u202eb@example.com")).toThrow();
  });
});
