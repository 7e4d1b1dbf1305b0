import { beforeEach, describe, expect, test } from "bun:test";
import { createThrottle, type Throttle } from "../../../src/accounts/people/throttle.ts";
import { createMemoryLimiter, type MemoryLimiter } from "../../../src/limiter/memory.ts";

const fail = () => Promise.reject(new Error("wrong"));

describe("createThrottle", () => {
  const clock = { nowMs: 0 };
  let limiter: MemoryLimiter;
  let throttle: Throttle;
  beforeEach(() => {
    limiter = createMemoryLimiter({ now: () => clock.nowMs });
    throttle = createThrottle(() => limiter);
  });

  /** Returns how many of `count` failing attempts are let through. */
  async function failures(
    count: number,
    attempt: { address?: string; subject?: string; trusted?: string },
  ): Promise<number> {
    let passed = 0;
    for (let index = 0; index < count; index += 1) {
      const thrown = await throttle("sign-in", { address: undefined, ...attempt }, fail).catch(
        (each) => each,
      );
      if (thrown.message === "wrong") passed += 1;
    }
    return passed;
  }

  test("lets ten failures of an address through in a minute, and says when the next may come", async () => {
    expect(await failures(30, { address: "192.0.2.1" })).toBe(10);
    const refusal = await throttle("sign-in", { address: "192.0.2.1" }, fail).catch((each) => each);
    expect(refusal.kind).toBe("sign_in_throttled");
    expect(refusal.retryAfterS).toBeGreaterThanOrEqual(1);
    clock.nowMs += refusal.retryAfterS * 1_000;
    expect(await failures(1, { address: "192.0.2.1" })).toBe(1);
  });

  test("counts failures for one e-mail from many addresses", async () => {
    let passed = 0;
    for (let index = 0; index < 40; index += 1) {
      passed += await failures(1, { address: `192.0.2.${index}`, subject: "ada@example.com" });
    }
    expect(passed).toBe(20);
    expect(await failures(1, { address: "192.0.2.99", subject: "bob@example.com" })).toBe(1);
  });

  test("one address alone locks nobody else out of an e-mail", async () => {
    await failures(100, { address: "192.0.2.1", subject: "ada@example.com" });
    const own = { address: "192.0.2.2", subject: "ada@example.com" };
    expect(await throttle("sign-in", own, async () => "in")).toBe("in");
  });

  test("three addresses that fail as often as they can leave attempts for a fourth", async () => {
    let passed = 0;
    for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3"]) {
      passed += await failures(20, { address, subject: "ada@example.com" });
    }
    expect(passed).toBe(15);
    expect(await failures(9, { address: "192.0.2.4", subject: "ada@example.com" })).toBe(5);
  });

  test("a refused attempt is not counted for its address", async () => {
    await failures(50, { address: "192.0.2.1", subject: "ada@example.com" });
    expect(await failures(9, { address: "192.0.2.1", subject: "bob@example.com" })).toBe(5);
  });

  test("a trusted caller counts alone, apart from its address and subject", async () => {
    for (let index = 0; index < 40; index += 1) {
      await failures(1, { address: `192.0.2.${index}`, subject: "ada@example.com" });
    }
    const trusted = { address: "192.0.2.1", subject: "ada@example.com", trusted: "device:1" };
    expect(await failures(20, trusted)).toBe(10);
    expect(await failures(20, { ...trusted, trusted: "device:2" })).toBe(10);
  });

  test("does not count attempts that succeed", async () => {
    for (let index = 0; index < 100; index += 1) {
      await throttle("sign-in", { address: "192.0.2.1", subject: "ada@example.com" }, async () => undefined);
    }
    expect(await failures(20, { address: "192.0.2.1" })).toBe(10);
  });

  test("counts mails, which cost us something, also when they are sent", async () => {
    const send = () => throttle("mail", { address: undefined, subject: "ada@example.com" }, async () => 1);
    for (let index = 0; index < 3; index += 1) await send();
    await expect(send()).rejects.toMatchObject({ kind: "sign_in_throttled" });
  });

  test("counts the addresses of one IPv6 network together, and IPv4 in either notation", async () => {
    await failures(10, { address: "2001:db8:1:2::1" });
    expect(await failures(1, { address: "2001:db8:1:2:ffff:0:0:9" })).toBe(0);
    expect(await failures(1, { address: "2001:db8:1:3::1" })).toBe(1);
    await failures(10, { address: "::ffff:192.0.2.7" });
    expect(await failures(1, { address: "192.0.2.7" })).toBe(0);
  });

  test("counts callers without an address together", async () => expect(await failures(30, {})).toBe(10));

  test("bounds attempts that run at the same time", async () => {
    const attempts = Array.from({ length: 50 }, () =>
      throttle("sign-in", { address: "192.0.2.1" }, async () => {
        await Bun.sleep(1);
        throw new Error("wrong");
      }).catch((each) => each.message),
    );
    const answers = await Promise.all(attempts);
    expect(answers.filter((message) => message === "wrong")).toHaveLength(10);
  });
});
