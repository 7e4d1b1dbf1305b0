import { describe, expect, test } from "bun:test";
import { checkNewPassword, createOneTimePassword, createPasswords } from "../../src/accounts/passwords.ts";

const passwords = createPasswords();

describe("createPasswords", () => {
  test("hashes with argon2id, a new salt each time", async () => {
    const [one, other] = await Promise.all([passwords.hash("a password"), passwords.hash("a password")]);
    expect(one).toStartWith("$argon2id$v=19$m=19456,t=2,p=1$");
    expect(one).not.toBe(other);
    expect(await passwords.verify("a password", one)).toBe(true);
    expect(await passwords.verify("A password", one)).toBe(false);
  });

  test("takes one letter for itself however a keyboard composes it", async () => {
    const composed = await passwords.hash("Schl\u00f6sserwei\u00df");
    expect(await passwords.verify("Schlo\u0308sserwei\u00df", composed)).toBe(true);
    expect(await passwords.verify("Schlosserwei\u00df", composed)).toBe(false);
  });

  test("treats a damaged hash like a wrong password", async () => {
    for (const hash of ["", "none", "$argon2id$v=19$m=1", "$2b$10$broken"]) {
      expect(await passwords.verify("a password", hash)).toBe(false);
    }
  });

  test("refuses with retry-after when too many hashes wait, and hashes again afterwards", async () => {
    const busy = createPasswords();
    const attempts = await Promise.allSettled(Array.from({ length: 25 }, () => busy.hash("a password")));
    const refused = attempts.filter(({ status }) => status === "rejected");
    // 2 run and 16 wait.
    expect(refused).toHaveLength(7);
    expect(refused[0]).toMatchObject({ reason: { kind: "sign_in_throttled", retryAfterS: 1 } });
    expect(await busy.hash("a password")).toStartWith("$argon2id$");
  });
});

describe("checkNewPassword", () => {
  test.each([
    ["123456789", false],
    ["1234567890", true],
    ["x".repeat(128), true],
    ["x".repeat(129), false],
    ["\u{1f600}".repeat(9), false],
    ["\u{1f600}".repeat(128), true],
    // Five letters with five combining accents are five letters.
    ["e\u0301".repeat(5), false],
  ])("counts characters after normalisation: %p", (password, isAllowed) => {
    const check = () => checkNewPassword(password);
    if (isAllowed) expect(check).not.toThrow();
    else expect(check).toThrow("wrong_shape");
  });
});

test("one-time passwords have 24 characters and differ", () => {
  const made = new Set(Array.from({ length: 100 }, createOneTimePassword));
  expect(made.size).toBe(100);
  for (const each of made) expect(each).toMatch(/^[\w-]{24}$/);
});
