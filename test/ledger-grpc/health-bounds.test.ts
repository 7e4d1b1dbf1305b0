import { describe, expect, test } from "bun:test";
import { connect } from "node:http2";
import { until } from "../support/until.ts";
import { failureOf, serve, TOKEN, tokenOf } from "./served.ts";
import { connectHealth } from "./service-clients.ts";

const PER_CONNECTION = 16;
const STREAMS = 256;

type Watch = ReturnType<ReturnType<typeof connectHealth>["watch"]>;

/** Returns the first status of a watch, or the code that ended it. */
function firstOf(watch: Watch): Promise<string> {
  return Promise.race([watch.next(), watch.ended]);
}

function watchMany(health: ReturnType<typeof connectHealth>, count: number): readonly Watch[] {
  return Array.from({ length: count }, () => health.watch(""));
}

async function countOf(watches: readonly Watch[], first: string): Promise<number> {
  const all = await Promise.all(watches.map(firstOf));
  return all.filter((one) => one === first).length;
}

describe("watchers of health without a token", () => {
  test("are at most 16 per connection, and one that ends admits another", async () => {
    await using served = await serve();
    using health = connectHealth(served.server.address);
    const watches = watchMany(health, 3 * PER_CONNECTION);
    expect(await countOf(watches, "SERVING")).toBe(PER_CONNECTION);
    expect(await countOf(watchMany(health, 2), "RESOURCE_EXHAUSTED")).toBe(2);
    expect(await failureOf(health.check(""))).toMatchObject({ code: "RESOURCE_EXHAUSTED" });
    watches[0]?.[Symbol.dispose]();
    await until(async () => (await firstOf(health.watch(""))) === "SERVING");
  });

  test("are at most 256 in total, and do not block checks or calls with the token", async () => {
    await using served = await serve();
    const { address } = served.server;
    const connections = Array.from({ length: 40 }, () => connectHealth(address));
    const watches = connections.flatMap((health) => watchMany(health, 10));
    expect(await countOf(watches, "SERVING")).toBe(STREAMS);
    using late = connectHealth(address);
    expect(await firstOf(late.watch(""))).toBe("RESOURCE_EXHAUSTED");
    expect(await late.check("")).toBe("SERVING");
    expect(await served.call("Ping", {})).toEqual({});
    using trusted = connectHealth(address, tokenOf(TOKEN));
    expect(await countOf(watchMany(trusted, 2 * PER_CONNECTION), "SERVING")).toBe(2 * PER_CONNECTION);
    for (const health of connections) health[Symbol.dispose]();
    for (const watch of watches) watch[Symbol.dispose]();
    await until(async () => (await firstOf(late.watch(""))) === "SERVING");
  });

  test("end with UNAVAILABLE after streamMs", async () => {
    await using served = await serve({ openCalls: { streamMs: 50 } });
    using health = connectHealth(served.server.address);
    expect(await health.watch("").ended).toBe("UNAVAILABLE");
  });

  test("of unknown services count too", async () => {
    await using served = await serve();
    using health = connectHealth(served.server.address);
    const watches = Array.from({ length: PER_CONNECTION + 1 }, (_, index) => health.watch(`made.Up${index}`));
    expect(await countOf(watches, "SERVICE_UNKNOWN")).toBe(PER_CONNECTION);
  });
});

describe("a call of health without a token", () => {
  test("with a service name above 1 KiB ends with RESOURCE_EXHAUSTED", async () => {
    await using served = await serve();
    using health = connectHealth(served.server.address);
    const long = "x".repeat(1_100);
    expect(await failureOf(health.check(long))).toMatchObject({ code: "RESOURCE_EXHAUSTED" });
    expect(await health.watch(long).ended).toBe("RESOURCE_EXHAUSTED");
    const failure = await failureOf(health.check("x".repeat(1_000)));
    expect(failure).toMatchObject({ code: "NOT_FOUND", message: "The server has no such service." });
  });

  test("without a request ends after callMs", async () => {
    await using served = await serve({ openCalls: { callMs: 50 } });
    const session = connect(`http://${served.server.address}`);
    const stream = session.request({
      ":method": "POST",
      ":path": "/grpc.health.v1.Health/Check",
      "content-type": "application/grpc",
      te: "trailers",
    });
    const status = await new Promise((resolve) => {
      stream.on("response", (headers) => headers["grpc-status"] && resolve(headers["grpc-status"]));
      stream.on("trailers", (headers) => resolve(headers["grpc-status"]));
    });
    session.destroy();
    expect(String(status)).toBe("14");
  });

  test("lists the server and the ledger service", async () => {
    await using served = await serve();
    using health = connectHealth(served.server.address);
    expect(await health.list()).toEqual({ "": "SERVING", "tollgate.ledger.v1.LedgerService": "SERVING" });
  });
});
