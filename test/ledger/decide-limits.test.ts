import { describe, expect, test } from "bun:test";
import {
  create,
  DAY_MS,
  deleteLimit,
  expire,
  fund,
  hold,
  lastDecision,
  limit,
  MOST,
  settle,
} from "./given.ts";
import { emptyWallet } from "./memory-wallet.ts";
import { holdIdOf, NOON_MS } from "./samples.ts";

const HOUR_MS = 3_600_000;
const next = { holdId: holdIdOf("next", NOON_MS + DAY_MS) };
const spent = [create, fund(100n), limit(10n), hold(10n), settle(10n)];

describe("a spending limit", () => {
  test("counts spending from before it was lowered", () => {
    const given = [
      create,
      fund(100n),
      limit(20n),
      hold(10n),
      settle(10n),
      limit(15n),
      hold(6n, { holdId: holdIdOf("next") }),
    ];
    expect(lastDecision(given)).toBe("spending_limit_exceeded");
  });

  test("starts at 0 in each period", () => {
    const spent = [create, fund(100n), limit(10n), hold(10n), settle(10n)];
    expect(lastDecision([...spent, DAY_MS / 2 - 1, hold(1n, { holdId: holdIdOf("next") })])).toBe(
      "spending_limit_exceeded",
    );
    expect(lastDecision([...spent, DAY_MS / 2, hold(10n, { holdId: holdIdOf("next") })])).toMatchObject({
      granted: 10n,
    });
  });

  test("counts a hold in the period it was taken in, even when it is settled late", () => {
    const stored = emptyWallet();
    lastDecision([create, fund(100n), limit(10n), hold(10n), 3 * DAY_MS, expire, settle(9n)], stored);
    expect([...stored.counters.values()].filter(({ used }) => used > 0n)).toEqual([
      { counterId: "l1", periodStartMs: NOON_MS - DAY_MS / 2, used: 9n, held: 0n },
    ]);
  });

  test("may be exceeded by an actual cost and then declines every hold", () => {
    const given = [
      create,
      fund(100n),
      limit(10n),
      hold(10n),
      settle(30n),
      hold(0n, { holdId: holdIdOf("next") }),
    ];
    expect(lastDecision(given)).toBe("spending_limit_exceeded");
  });

  test("does not move from one key to another", () =>
    expect(lastDecision([create, limit(10n), limit(10n, { keyId: "k2" })])).toBe("conflict"));
});

describe("a deleted limit", () => {
  test("binds no key", () =>
    expect(lastDecision([...spent, deleteLimit(), hold(90n, next)])).toMatchObject({ granted: 90n }));

  test("is restored with its counter", () => {
    const back = [...spent, deleteLimit(), limit(15n)];
    expect(lastDecision([...back, hold(6n, next)])).toBe("spending_limit_exceeded");
    expect(lastDecision([...back, hold(5n, next)])).toMatchObject({ granted: 5n });
  });

  test("still counts the holds taken under it", () => {
    const open = [create, fund(100n), limit(10n), hold(10n), deleteLimit(), settle(9n), limit(10n)];
    expect(lastDecision([...open, hold(2n, next)])).toBe("spending_limit_exceeded");
    expect(lastDecision([...open, hold(1n, next)])).toMatchObject({ granted: 1n });
  });

  test("counts holds that were taken while it was deleted", () => {
    const away = [...spent, deleteLimit(), hold(50n, { holdId: holdIdOf("h2") }), limit(61n)];
    const third = { holdId: holdIdOf("third") };
    expect(lastDecision([...away, hold(2n, third)])).toBe("spending_limit_exceeded");
    expect(lastDecision([...away, hold(1n, third)])).toMatchObject({ granted: 1n });
  });

  test("reserves its id for its key", () => {
    expect(lastDecision([...spent, deleteLimit(), limit(10n, { keyId: "k2" })])).toBe("conflict");
    expect(lastDecision([...spent, deleteLimit(), limit(10n, { keyId: undefined })])).toBe("conflict");
  });

  test("may be deleted again, like an unknown limit", () => {
    const stored = emptyWallet();
    expect(
      lastDecision([...spent, deleteLimit(), 5, deleteLimit(), deleteLimit("none")], stored),
    ).toBeUndefined();
    expect([...stored.limits.values()]).toMatchObject([{ limitId: "l1", deletedAtMs: NOON_MS }]);
  });
});

describe("a limit in a time zone", () => {
  const berlin = { timeZone: "Europe/Berlin" };

  test("starts at 0 at that zone's midnight", () => {
    const given = [create, fund(100n), limit(10n, berlin), hold(10n), settle(10n)];
    expect(lastDecision([...given, 11 * HOUR_MS - 1, hold(1n, next)])).toBe("spending_limit_exceeded");
    expect(lastDecision([...given, 11 * HOUR_MS, hold(10n, next)])).toMatchObject({ granted: 10n });
  });

  test("counts what its period has seen when the zone changes", () => {
    const moved = [...spent, limit(12n, berlin)];
    expect(lastDecision([...moved, hold(3n, next)])).toBe("spending_limit_exceeded");
    expect(lastDecision([...moved, hold(2n, next)])).toMatchObject({ granted: 2n });
  });

  test.each(["Mars/Olympus", "+01:00", "", "Europe/Berlin\u0000"])(
    "is declined for the zone %j",
    (timeZone) => expect(lastDecision([create, limit(10n, { timeZone })])).toBe("invalid_time_zone"),
  );
});

describe("a limit whose period changes", () => {
  const ofMonth = { period: "month" };

  test("counts what the new period has seen, and nothing from before it", () => {
    const moved = [...spent, limit(12n, ofMonth)];
    expect(lastDecision([...moved, hold(3n, next)])).toBe("spending_limit_exceeded");
    expect(lastDecision([...moved, hold(2n, next)])).toMatchObject({ granted: 2n });
    const later = { holdId: holdIdOf("later", NOON_MS + 18 * DAY_MS) };
    expect(lastDecision([...spent, 18 * DAY_MS, limit(12n, ofMonth), hold(12n, later)])).toMatchObject({
      granted: 12n,
    });
  });

  test("keeps the counter of a period that started at the same instant", () => {
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
    expect(lastDecision([...onFirst, hold(6n, another)])).toBe("spending_limit_exceeded");
    expect(lastDecision([...onFirst, DAY_MS, hold(6n, another)])).toBe("spending_limit_exceeded");
    expect(lastDecision([...onFirst, DAY_MS, hold(5n, another)])).toMatchObject({ granted: 5n });
  });

  test("counts open holds in every period that they were taken in", () => {
    const stored = emptyWallet();
    lastDecision([create, fund(100n), limit(10n), hold(10n), limit(10n, ofMonth), settle(9n)], stored);
    expect([...stored.counters.values()].map(({ periodStartMs, used }) => [periodStartMs, used])).toEqual([
      [NOON_MS - DAY_MS / 2, 9n],
      [NOON_MS - 13 * DAY_MS - DAY_MS / 2, 9n],
    ]);
  });
});

test("a limit may be as large as the largest amount", () =>
  expect(lastDecision([create, fund(MOST), limit(MOST), hold(MOST)])).toMatchObject({ granted: MOST }));
