import { expect, test } from "bun:test";
import type { TraceContext } from "../../src/domain/trace-context.ts";
import { LedgerError } from "../../src/ledger/ledger.ts";
import { connectLedger } from "../../src/ledger-grpc/client/client.ts";
import type { LedgerServerTracing } from "../../src/ledger-grpc/server/mutations.ts";
import { FACTS, holdIdOf, holdOf } from "../ledger/samples.ts";
import { failureOf, PATIENT, serve, stubLedger, TOKEN, tokenOf } from "./served.ts";

const trace: TraceContext = {
  traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
  tracestate: "vendor=1",
};

/** Records each span as "method reason" when it ends, and the contexts as they came. */
function recordSpans() {
  const ended: string[] = [];
  const contexts: TraceContext[] = [];
  const tracing: LedgerServerTracing = {
    startCommand(service, method, context) {
      expect(service).toBe("tollgate.ledger.v1.LedgerService");
      contexts.push(context);
      return { end: (reason = "ok") => void ended.push(`${method} ${reason}`) };
    },
  };
  return { ended, contexts, tracing };
}

test("the commands of a client that names its span are spans, and heartbeats are not", async () => {
  const { ended, contexts, tracing } = recordSpans();
  const ledger = stubLedger({ release: () => Promise.reject(new LedgerError("hold_not_found")) });
  await using served = await serve({ tracing, ledger });
  const remote = connectLedger({ address: served.server.address, tokens: () => [TOKEN], ...PATIENT });
  const held = { walletId: "acme", holdId: holdIdOf("h1") };
  await remote.hold(holdOf(5n), { trace, deadlineMs: Date.now() + 60_000 });
  await remote.extend({ ...held, accrued: 1n, ttlMs: 60_000 });
  await remote.settle({ ...held, amount: 3n, facts: FACTS }, { trace: { traceparent: trace.traceparent } });
  await remote.release({ ...held, facts: FACTS }, { trace }).catch(() => undefined);
  await remote.settle({ ...held, amount: 3n, facts: FACTS });
  await remote.close();
  expect(ended).toEqual(["CreateHold ok", "SettleHold ok", "ReleaseHold hold_not_found"]);
  expect(contexts).toEqual([trace, { ...trace, tracestate: "" }, trace]);
});

test("a unary call with traceparent in its metadata is a span", async () => {
  const { ended, contexts, tracing } = recordSpans();
  await using served = await serve({ tracing });
  const metadata = tokenOf(TOKEN);
  metadata.set("traceparent", trace.traceparent);
  metadata.set("tracestate", "vendor=1");
  await served.call("GetWallet", { walletId: "acme" }, {}, metadata);
  await failureOf(served.call("GetHold", { walletId: "acme", holdId: holdIdOf("h1") }, {}, metadata));
  await served.call("GetWallet", { walletId: "acme" });
  expect(ended).toEqual(["GetWallet ok", "GetHold hold_not_found"]);
  expect(contexts[0]).toEqual(trace);
});
