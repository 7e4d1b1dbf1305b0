import { expect, test } from "bun:test";
import { parseUsd } from "../../src/domain/money.ts";
import { loadYaml, placesOf, problemsOf } from "./temp-config.ts";

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString("base64")}`;
const [NEW, OLD, OTHER] = [secretOf(1), secretOf(2), secretOf(3)];
const MAXIMA = 'max_usd: "500.00", max_day_usd: "5000"';

function callersOf(callers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(callers).map(([id, entry]) => `    ${id}: { ${entry} }`);
  return ["payments:", "  callers:", ...lines].join("\n");
}

test("callers have one secret, or two while they are rotated", () => {
  const yaml = callersOf({
    shop: `secret: "\${SHOP_SECRET}", old_secret: ${OLD}, ${MAXIMA}`,
    bank: `secret: ${OTHER}, ${MAXIMA}`,
  });
  const maxima = { callMax: parseUsd("500"), dayMax: parseUsd("5000") };
  expect(loadYaml(yaml, { SHOP_SECRET: NEW }).payments?.callers).toEqual([
    { id: "shop", secrets: [NEW, OLD], ...maxima },
    { id: "bank", secrets: [OTHER], ...maxima },
  ]);
  expect(loadYaml("").payments?.callers).toEqual([]);
});

test.each([
  ["an empty secret", `secret: "", ${MAXIMA}`, "secret"],
  ["no secret", MAXIMA, "secret"],
  ["a secret of nothing", `secret: , ${MAXIMA}`, "secret"],
  ["an empty variable", `secret: "\${EMPTY}", ${MAXIMA}`, "secret"],
  ["a prefix without a secret", `secret: whsec_, ${MAXIMA}`, "secret"],
  ["a short secret", `secret: whsec_c2VjcmV0, ${MAXIMA}`, "secret"],
  ["a secret without its prefix", `secret: ${NEW.slice(6)}, ${MAXIMA}`, "secret"],
  ["an empty old secret", `secret: ${NEW}, old_secret: "", ${MAXIMA}`, "old_secret"],
  ["one secret twice", `secret: ${NEW}, old_secret: ${NEW}, ${MAXIMA}`, "old_secret"],
  ["no maximum of a call", `secret: ${NEW}, max_day_usd: "1"`, "max_usd"],
  ["no maximum of a day", `secret: ${NEW}, max_usd: "1"`, "max_day_usd"],
  ["a maximum of 0", `secret: ${NEW}, max_usd: "0.00", max_day_usd: "1"`, "max_usd"],
  ["a day below a call", `secret: ${NEW}, max_usd: "2", max_day_usd: "1"`, "max_day_usd"],
  ["a maximum in exponents", `secret: ${NEW}, max_usd: "1e3", max_day_usd: "1e3"`, "max_usd"],
])("a caller with %s stops the start, and no problem quotes a secret", (_, entry, key) => {
  const problems = problemsOf(callersOf({ shop: entry }), { EMPTY: "" });
  expect(placesOf(problems)).toContain(`payments.callers.shop.${key}`);
  for (const secret of [NEW, NEW.slice(6)]) expect(problems.join()).not.toContain(secret);
});

test("two callers with one secret, and a bad name, stop the start", () => {
  const entry = `secret: ${NEW}, ${MAXIMA}`;
  expect(placesOf(problemsOf(callersOf({ shop: entry, bank: entry })))).toEqual([
    "payments.callers.bank.secret",
  ]);
  expect(placesOf(problemsOf(callersOf({ '"a:b"': entry })))).toEqual(['payments.callers["a:b"]']);
});
