import { expect, test } from "bun:test";
import { codeOf, findStep, printBase32, printKeyUri } from "../../src/accounts/second-factor/totp.ts";

const SECRET = Buffer.from("12345678901234567890");

// The appendix of RFC 6238, by the last six digits.
test.each([
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
])("at %p s the code is %p", (atS, code) => {
  expect(codeOf(SECRET, Math.floor(atS / 30))).toBe(code);
});

test("a code stands 30 seconds longer on either side, and not behind a used one", () => {
  const nowMs = 1_000 * 30_000;
  const find = (step: number, lastStep = 0) => findStep(SECRET, codeOf(SECRET, step), { nowMs, lastStep });
  expect([998, 999, 1_000, 1_001, 1_002].map((step) => find(step))).toEqual([
    undefined,
    999,
    1_000,
    1_001,
    undefined,
  ]);
  expect(find(1_000, 1_000)).toBeUndefined();
  expect(find(1_001, 1_000)).toBe(1_001);
  expect(findStep(SECRET, "12345", { nowMs, lastStep: 0 })).toBeUndefined();
});

test("secrets are printed in base 32, in the address that apps read", () => {
  expect(printBase32(Buffer.from("foobar"))).toBe("MZXW6YTBOI");
  expect(printKeyUri(SECRET, { host: "a.example:8080", email: "ada+b@example.com" })).toBe(
    "otpauth://totp/Tollgate%20a.example%3A8080:ada%2Bb%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Tollgate%20a.example%3A8080",
  );
});
