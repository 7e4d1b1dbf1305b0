import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { status } from "@grpc/grpc-js";
import type { Mutation__Output } from "../../src/gen/tollgate/ledger/v1/Mutation.ts";
import type { MutationResult } from "../../src/gen/tollgate/ledger/v1/MutationResult.ts";
import { type HoldRequest, type Ledger, LedgerError } from "../../src/ledger/ledger.ts";
import { type ConnectLedgerOptions, connectLedger } from "../../src/ledger-grpc/client/client.ts";
import { LedgerLinkError } from "../../src/ledger-grpc/client/link-error.ts";
import { encodeError } from "../../src/ledger-grpc/codec/status.ts";
import { errorCodeOf } from "../ledger/samples.ts";
import { until } from "../support/until.ts";
import { DONE, type MutationStream, openScriptedService, type ScriptedService } from "./scripted-service.ts";
import { PATIENT } from "./served.ts";

let service: ScriptedService;
let ledger: Ledger;

beforeEach(async () => {
  service = await openScriptedService();
});

afterEach(async () => {
  await ledger.close();
  service.close();
});

function connect(options: Partial<ConnectLedgerOptions> = {}): void {
  ledger = connectLedger({ address: service.address, tokens: () => ["t"], ...PATIENT, ...options });
}

const HOLD: HoldRequest = {
  walletId: "acme",
  holdId: Bun.randomUUIDv7(),
  keyId: "k1",
  amount: 1n,
  minimum: 1n,
  ttlMs: 1_000,
  facts: { surface: "chat", model: "demo" },
};

function fail(stream: MutationStream, code: status): void {
  stream.emit("error", { code, details: "scripted" });
}

function idOf({ createTopUp }: Mutation__Output): string {
  return createTopUp?.topUpId ?? "";
}

/** Returns a result whose balance is the number in the id. */
function doneWith(id: string): MutationResult {
  return { balances: { postedNanos: id.slice(1), heldNanos: "0", availableNanos: "0" } };
}

async function faultOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.catch((each: unknown) => each);
  if (!(error instanceof LedgerError) || !(error.cause instanceof LedgerLinkError)) throw error;
  expect(error.code).toBe("unavailable");
  return error.cause.code;
}

/** Tops up once per id in one event-loop turn. Returns the error code of each, or "done". */
function topUps(ids: readonly string[]): Promise<readonly string[]> {
  return Promise.all(
    ids.map((topUpId) =>
      ledger.topUp({ walletId: "acme", topUpId, amount: 1n }).then(
        () => "done",
        (error) => (error instanceof LedgerError ? error.code : `stray: ${error}`),
      ),
    ),
  );
}

function idsOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `t${index}`);
}

describe("the client", () => {
  test("sends the mutations of one event-loop turn in order, in messages of at most 128", async () => {
    connect();
    service.onMessage = ({ sequence, mutations }, stream) =>
      stream.write({ sequence, results: mutations.map(() => DONE) });
    await topUps(["first"]);
    expect(await topUps(idsOf(300))).toEqual(idsOf(300).map(() => "done"));
    expect(service.messages.map(({ mutations }) => mutations.length)).toEqual([1, 128, 128, 44]);
    const sent = service.messages.slice(1).flatMap(({ mutations }) => mutations);
    expect(sent.map(({ createTopUp }) => createTopUp?.topUpId)).toEqual([...idsOf(300)]);
  });

  test("keeps at most windowMax messages unanswered, in whatever order answers arrive", async () => {
    connect({ windowMax: 3 });
    const held: (() => void)[] = [];
    let unanswered = 0;
    let most = 0;
    service.onMessage = ({ sequence, mutations }, stream) => {
      unanswered += 1;
      most = Math.max(most, unanswered);
      held.push(() => {
        unanswered -= 1;
        stream.write({ sequence, results: mutations.map((each) => doneWith(idOf(each))) });
      });
    };
    const all = Promise.all(
      idsOf(700).map((topUpId) => ledger.topUp({ walletId: "acme", topUpId, amount: 1n })),
    );
    for (let answered = 0; answered < 6; answered += 1) {
      await until(() => held.length === Math.min(3, 6 - answered));
      held.pop()?.();
    }
    expect((await all).map(({ balances }) => balances.posted)).toEqual(
      Array.from({ length: 700 }, (_, index) => BigInt(index)),
    );
    expect(most).toBe(3);
  });

  test("queues at most queueMax unsent mutations, and rejects more with queue_full", async () => {
    connect({ windowMax: 1, queueMax: 2_000 });
    const isQueued = Promise.withResolvers<void>();
    service.onMessage = ({ sequence, mutations }, stream) =>
      isQueued.promise.then(() => stream.write({ sequence, results: mutations.map(() => DONE) }));
    const sent = topUps(["sent"]);
    await until(() => service.messages.length === 1);
    const queued = topUps(idsOf(2_003));
    isQueued.resolve();
    const rest = await queued;
    expect(rest.filter((each) => each === "queue_full")).toHaveLength(3);
    expect(rest.slice(2_000)).toEqual(["queue_full", "queue_full", "queue_full"]);
    expect(await sent).toEqual(["done"]);
  });

  test("sends a deadline as the time that is left", async () => {
    connect();
    service.onMessage = ({ sequence }, stream) =>
      stream.write({ sequence, results: [{ status: encodeError("insufficient_balance") }] });
    await errorCodeOf(ledger.hold(HOLD, { deadlineMs: Date.now() + 60_000 }));
    const timeout = service.messages[0]?.mutations[0]?.createHold?.timeout;
    const leftMs = Number(timeout?.seconds) * 1_000 + Number(timeout?.nanos) / 1e6;
    expect(leftMs).toBeWithin(1, 60_001);
  });
});

describe("a failing service", () => {
  test("that never answers is given up after answerMaxMs and retried over another connection", async () => {
    connect({ answerMaxMs: 6_000 });
    service.onMessage = ({ sequence, mutations }, stream) => {
      if (service.streams > 1) stream.write({ sequence, results: mutations.map(() => DONE) });
    };
    const first = topUps(["first"]);
    await until(() => service.messages.length === 1);
    // The second is given up so much later: long enough for another connection on a busy machine.
    await Bun.sleep(4_000);
    const second = topUps(["second"]);
    expect(await first).toEqual(["unavailable"]);
    expect(await second).toEqual(["done"]);
    expect(service.messages.map(({ mutations }) => mutations.map(idOf))).toEqual([
      ["first"],
      ["second"],
      ["second"],
    ]);
  });

  test("that cannot decode one mutation fails that one alone", async () => {
    connect();
    service.onMessage = ({ sequence, mutations }, stream) => {
      if (mutations.some((each) => idOf(each) === "t137")) fail(stream, status.INVALID_ARGUMENT);
      else stream.write({ sequence, results: mutations.map(() => DONE) });
    };
    const outcomes = await topUps(idsOf(400));
    expect(outcomes.filter((each) => each !== "done")).toEqual(["unavailable"]);
    expect(outcomes[137]).toBe("unavailable");
  });

  test.each([
    ["a denied token", status.UNAUTHENTICATED, "denied"],
    ["a denied certificate", status.PERMISSION_DENIED, "denied"],
    ["another protocol", status.UNIMPLEMENTED, "unsupported"],
  ])("because of %s is reported at once, and reconnected to slowly", async (_, code, fault) => {
    service.onHello = (stream) => fail(stream, code);
    const startedMs = performance.now();
    connect();
    expect(await faultOf(ledger.ping())).toBe(fault);
    expect(await faultOf(ledger.createWallet("acme"))).toBe(fault);
    expect(performance.now() - startedMs).toBeLessThan(PATIENT.outageMaxMs);
    await until(() => service.streams > 1);
    await Bun.sleep(500);
    // Five in the first second, then about one in each.
    expect(service.streams).toBeLessThan(6 + (performance.now() - startedMs) / 500);
  });

  test("that fails at every message is retried until answerMaxMs", async () => {
    connect({ answerMaxMs: 5_000 });
    service.onMessage = (_, stream) => fail(stream, status.INTERNAL);
    expect(await topUps(["a", "b"])).toEqual(["unavailable", "unavailable"]);
    // Of pauses from 100 to 300 ms.
    expect(service.streams).toBeWithin(3, 60);
  });

  test("that answers too few results is unsupported", async () => {
    connect();
    service.onMessage = ({ sequence }, stream) => stream.write({ sequence, results: [DONE] });
    expect(await faultOf(Promise.all([ledger.createWallet("a"), ledger.createWallet("b")]))).toBe(
      "unsupported",
    );
  });

  test("that answers an undecodable result is unsupported", async () => {
    connect();
    service.onMessage = ({ sequence }, stream) => stream.write({ sequence, results: [{}] });
    expect(await faultOf(ledger.createWallet("a"))).toBe("unsupported");
  });

  test("that answers a status without a reason is unsupported", async () => {
    connect();
    const failed = { status: { code: status.INTERNAL, message: "?", details: [] } };
    service.onMessage = ({ sequence }, stream) => stream.write({ sequence, results: [failed] });
    expect(await faultOf(ledger.createWallet("a"))).toBe("unsupported");
  });
});

describe("an error that concerns one try", () => {
  test.each(["deadline_exceeded", "queue_full"] as const)("%s is passed on after one try", async (reason) => {
    connect();
    service.onMessage = ({ sequence }, stream) =>
      stream.write({ sequence, results: [{ status: encodeError(reason) }] });
    expect(await errorCodeOf(ledger.hold(HOLD))).toBe(reason);
  });

  test.each(["deadline_exceeded", "queue_full"] as const)(
    "%s becomes unavailable after two tries",
    async (reason) => {
      connect();
      service.onMessage = ({ sequence }, stream) => {
        if (service.streams === 1) fail(stream, status.UNAVAILABLE);
        else stream.write({ sequence, results: [{ status: encodeError(reason) }] });
      };
      expect(await errorCodeOf(ledger.hold(HOLD))).toBe("unavailable");
      expect(service.messages).toHaveLength(2);
    },
  );

  test("a decline is passed on after two tries", async () => {
    connect();
    service.onMessage = ({ sequence }, stream) => {
      if (service.streams === 1) fail(stream, status.UNAVAILABLE);
      else stream.write({ sequence, results: [{ status: encodeError("insufficient_balance") }] });
    };
    expect(await errorCodeOf(ledger.hold(HOLD))).toBe("insufficient_balance");
  });
});
