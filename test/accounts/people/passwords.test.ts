import { describe, expect, test } from "bun:test";
import {
  checkNewPassword,
  createOneTimePassword,
  createPasswords,
} from "../../../src/accounts/people/passwords.ts";

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
    const stranger = { owner: "192.0.2.1", isTrusted: false };
    const attempts = await Promise.allSettled(
      Array.from({ length: 13 }, () => busy.hash("a password", stranger)),
    );
    const refused = attempts.filter(({ status }) => status === "rejected");
    // 2 run and 4 wait.
    expect(refused).toHaveLength(7);
    expect(refused[0]).toMatchObject({ reason: { kind: "sign_in_throttled", retryAfterS: 1 } });
    expect(await busy.hash("a password", stranger)).toStartWith("$argon2id$");
  });

  test("ten hashes from each of sixty networks leave places for a stranger and for a known browser", async () => {
    const busy = createPasswords();
    const ends: string[] = [];
    const start = (owner: string, isTrusted = false) =>
      busy.verify("a password", "no hash", { owner, isTrusted }).then(
        () => ends.push(owner),
        () => ends.push(`refused ${owner}`),
      );
    const flood = Array.from({ length: 600 }, (_, index) => start(`192.0.2.${index % 60}`));
    const asked = [start("198.51.100.1"), start("device:1", true)];
    await Promise.all([...flood, ...asked]);
    expect(ends).not.toContain("refused 198.51.100.1");
    expect(ends).not.toContain("refused device:1");
    const verified = ends.filter((end) => !end.startsWith("refused"));
    // The known browser waits for those that run, the stranger for one of each network. Threads change the order.
    expect(verified).toHaveLength(244);
    expect(verified.indexOf("device:1")).toBeLessThan(60);
    expect(verified.indexOf("198.51.100.1")).toBeLessThan(200);
  });

  test("trusted callers that flood leave every second turn to strangers", async () => {
    const busy = createPasswords();
    const ends: string[] = [];
    const start = async (owner: string, isTrusted: boolean) => {
      await busy.hash("a password", { owner, isTrusted });
      ends.push(owner);
    };
    const flood = Array.from({ length: 20 }, (_, index) => start(`session:${index}`, true));
    await Promise.all([...flood, start("198.51.100.1", false)]);
    // It is the fourth to begin, and would be the last of 21 in the order of arrival.
    expect(ends.indexOf("198.51.100.1")).toBeLessThan(15);
    expect(ends).toHaveLength(21);
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
