import { describe, expect, test } from "bun:test";
import { create, DAY_MS, fund, hold, lastOf, limit, MOST, settle, unlimit } from "./given.ts";
import { emptyWallet } from "./memory-wallet.ts";
import { holdIdOf, NOON_MS } from "./samples.ts";

const HOUR_MS = 3_600_000;
const next = { holdId: holdIdOf("next", NOON_MS + DAY_MS) };
const spent = [create, fund(100n), limit(10n), hold(10n), settle(10n)];

describe("a limit that is deleted", () => {
  test("binds nobody", () => {
    expect(lastOf([...spent, unlimit(), hold(90n, next)])).toMatchObject({ granted: 90n });
  });

  test("comes back with what it had counted", () => {
    const back = [...spent, unlimit(), limit(15n)];
    expect(lastOf([...back, hold(6n, next)])).toBe("spending_limit_exceeded");
    expect(lastOf([...back, hold(5n, next)])).toMatchObject({ granted: 5n });
  });

  test("still counts the holds that were taken under it", () => {
    const open = [create, fund(100n), limit(10n), hold(10n), unlimit(), settle(9n), limit(10n)];
    expect(lastOf([...open, hold(2n, next)])).toBe("spending_limit_exceeded");
    expect(lastOf([...open, hold(1n, next)])).toMatchObject({ granted: 1n });
  });

  test("does not count what is taken while it is away", () => {
    const away = [...spent, unlimit(), hold(50n, next), limit(11n)];
    expect(lastOf([...away, hold(1n, { holdId: holdIdOf("third") })])).toMatchObject({ granted: 1n });
  });

  test("keeps its id from other keys", () => {
    expect(lastOf([...spent, unlimit(), limit(10n, { keyId: "k2" })])).toBe("conflict");
    expect(lastOf([...spent, unlimit(), limit(10n, { keyId: undefined })])).toBe("conflict");
  });

  test("may be deleted again, and so may one that never was", () => {
    const stored = emptyWallet();
    expect(lastOf([...spent, unlimit(), 5, unlimit(), unlimit("none")], stored)).toBeUndefined();
    expect([...stored.limits.values()]).toMatchObject([{ limitId: "l1", deletedAtMs: NOON_MS }]);
  });
});

describe("a limit in a time zone", () => {
  const berlin = { timeZone: "Europe/Berlin" };

  test("starts anew at that zone's midnight", () => {
    const given = [create, fund(100n), limit(10n, berlin), hold(10n), settle(10n)];
    expect(lastOf([...given, 11 * HOUR_MS - 1, hold(1n, next)])).toBe("spending_limit_exceeded");
    expect(lastOf([...given, 11 * HOUR_MS, hold(10n, next)])).toMatchObject({ granted: 10n });
  });

  test("starts another count when the zone changes", () => {
    expect(lastOf([...spent, limit(10n, berlin), hold(10n, next)])).toMatchObject({ granted: 10n });
  });

  test.each(["Mars/Olympus", "+01:00", "", "Europe/Berlin\u0000"])("is refused in %j", (timeZone) => {
    expect(lastOf([create, limit(10n, { timeZone })])).toBe("invalid_time_zone");
  });
});

describe("a limit whose period changes", () => {
  const ofMonth = { period: "month" };

  test("starts another count", () => {
    expect(lastOf([...spent, limit(10n, ofMonth), hold(10n, next)])).toMatchObject({ granted: 10n });
  });

  test("goes on with the count of a period that started at the same instant: all of it is in both", () => {
    const toFirst = 18 * DAY_MS;
    const first = holdIdOf("first", NOON_MS + toFirst);
    const onFirst = [
      create,
      fund(100n),
      limit(10n),
      toFirst,
      hold(10n, { holdId: first }),
      settle(10n, { holdId: first }),
      limit(15n, ofMonth),
    ];
    const another = { holdId: holdIdOf("another", NOON_MS + toFirst) };
    expect(lastOf([...onFirst, hold(6n, another)])).toBe("spending_limit_exceeded");
    expect(lastOf([...onFirst, DAY_MS, hold(6n, another)])).toBe("spending_limit_exceeded");
    expect(lastOf([...onFirst, DAY_MS, hold(5n, another)])).toMatchObject({ granted: 5n });
  });

  test("keeps open holds in the period they were taken in", () => {
    const stored = emptyWallet();
    lastOf([create, fund(100n), limit(10n), hold(10n), limit(10n, ofMonth), settle(9n)], stored);
    expect([...stored.counters.values()].map(({ periodStartMs, used }) => [periodStartMs, used])).toEqual([
      [NOON_MS - DAY_MS / 2, 9n],
    ]);
  });
});

test("a limit can be as large as an amount can", () => {
  expect(lastOf([create, fund(MOST), limit(MOST), hold(MOST)])).toMatchObject({ granted: MOST });
});
