import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Cause } from "../../src/errors.ts";
import type { Receipt } from "../../src/ledger/records.ts";
import { dataOf } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { ask, CROSSINGS, hear, QUADRANTS, tells } from "../support/quadrants/quadrant.ts";
import { nanosOf, type Said, said } from "../support/quadrants/said.ts";
import { answer, gate, resetAtOnce, type Script } from "../support/script.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

// A charge that nobody reported is counted, which takes its time on a busy machine.

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
beforeEach(() => gateway.upstream.reset());
afterAll(() => gateway.stop());

const USAGE = { input: 10, cached: 4, written: 3, output: 7 };
const call = { id: "call_1", name: "look_up", input: {} };

interface Row {
  readonly name: string;
  readonly script: Script;
  /** The failure that is said; none when the answer is a success. */
  readonly cause?: Cause;
  readonly source: "reported" | "estimated" | "none";
  readonly charge: bigint | "some";
  readonly outcome: string;
}

const paid = { source: "reported", charge: nanosOf(USAGE) } as const;
const free = { source: "none", charge: 0n } as const;
const tell = (more: Partial<Said>) => tells(said({ usage: USAGE, ...more }));
const nothing = { text: "", reasoning: "" };

const ROWS: readonly Row[] = [
  { name: "an answer with usage of every class", script: tell({}), ...paid, outcome: "ok" },
  {
    name: "a call alone",
    script: tell({ text: "", calls: [call], finish: "tool_calls" }),
    ...paid,
    outcome: "ok",
  },
  {
    name: "a refusal alone",
    script: tell({ text: "", refusal: "No.", finish: "content_filter" }),
    ...paid,
    outcome: "ok",
  },
  {
    name: "a filtered answer without a word",
    script: tell({ text: "", finish: "content_filter" }),
    ...paid,
    outcome: "ok",
  },
  {
    name: "an answer without usage",
    script: tell({ usage: undefined }),
    source: "estimated",
    charge: "some",
    outcome: "ok",
  },
  {
    name: "a usage that cannot be true",
    script: tell({ usage: { ...USAGE, cached: 1_000_000 } }),
    source: "estimated",
    charge: "some",
    outcome: "ok",
  },
  {
    name: "nothing, with usage",
    script: tell(nothing),
    cause: "empty_charged",
    ...paid,
    outcome: "empty_completion",
  },
  {
    name: "nothing, without usage",
    script: tell({ ...nothing, usage: undefined }),
    cause: "empty_released",
    ...free,
    outcome: "empty_completion",
  },
  {
    name: "nothing, for want of tokens",
    script: tell({ ...nothing, finish: "length" }),
    cause: "empty_charged",
    ...paid,
    outcome: "empty_completion",
  },
  {
    name: "a reset",
    script: resetAtOnce,
    cause: "upstream_unavailable",
    ...free,
    outcome: "upstream_unavailable",
  },
  {
    name: "an answer in the client's own format",
    script: (request) =>
      tell({})({ ...request, protocol: request.protocol === "openai" ? "anthropic" : "openai" }),
    cause: "upstream_unavailable",
    ...free,
    outcome: "upstream_unavailable",
  },
];

describe.each(CROSSINGS)("what is charged to a $surface.name client of $upstream for", (quadrant) => {
  describe.each([false, true])("(streamed: %p)", (stream) => {
    test.each([...ROWS])("$name", async ({ script, cause, source, charge, outcome }) => {
      const before = await gateway.balances();
      gateway.upstream.on(quadrant.model, script);
      const response = await ask(gateway, quadrant, { stream });
      if (cause) await expectError(response, quadrant.surface, cause);
      else {
        expect(response.status).toBe(200);
        await response.text();
      }
      const receipt = await gateway.receiptOf(response);
      expect(receipt.outcome).toMatchObject({ outcome, source });
      if (charge === "some") expect(receipt.captured).toBeGreaterThan(0n);
      else expect(receipt.captured).toBe(charge);
      const after = await gateway.balances();
      expect(after).toMatchObject({ held: 0n, posted: before.posted - receipt.captured });
    });

    test("reasoning alone, which is nothing to read", async () => {
      gateway.upstream.on(quadrant.model, tell({ text: "", reasoning: "Let me think." }));
      const thinking =
        quadrant.surface.name === "messages" ? { thinking: { type: "enabled", budget_tokens: 1_024 } } : {};
      const response = await ask(gateway, quadrant, { stream, ...thinking });
      if (!stream) await expectError(response, quadrant.surface, "empty_charged");
      else {
        expect(response.status).toBe(200);
        expect((await dataOf(response)).at(-1)).toMatchObject({ error: { type: expect.any(String) } });
      }
      const receipt = await gateway.receiptOf(response);
      expect(receipt).toMatchObject({ captured: nanosOf(USAGE), outcome: { outcome: "empty_completion" } });
    });

    test("an answer that breaks off, by what came of it", async () => {
      const text = "word ".repeat(400);
      const cutAt = stream ? 9_000 : 1_000;
      gateway.upstream.on(quadrant.model, tells(said({ text, usage: USAGE }), { cutAt, end: "close" }));
      const response = await ask(gateway, quadrant, { stream });
      if (!stream) return expectError(response, quadrant.surface, "upstream_unavailable");
      const [first, last] = await firstAndLast(response);
      expect(first).not.toHaveProperty("error");
      expect(last).toHaveProperty("error");
      const { captured, outcome } = await gateway.receiptOf(response);
      expect(outcome).toMatchObject({ outcome: "upstream_unavailable", source: "estimated" });
      expect(captured).toBeGreaterThan(nanosOf({ ...USAGE, input: 0, output: 10 }));
    });
  });

  test("case 40: a client that hangs up in the middle: what came until then, and the upstream is let go", async () => {
    const { opened, open } = gate();
    const pauseAt = { bytes: 2_000, gate: opened };
    const text = "word ".repeat(400);
    gateway.upstream.on(quadrant.model, tells(said({ text, usage: USAGE }), { pauseAt }));
    const controller = new AbortController();
    const response = await ask(gateway, quadrant, { stream: true, signal: controller.signal });
    await response.body?.getReader().read();
    controller.abort();
    await gateway.upstream.seen[0]?.over;
    expect(gateway.upstream.seen[0]?.hungUpAtMs).toBeNumber();
    open();
    while (!isLogged(response)) await Bun.sleep(2);
    const { captured, outcome } = await gateway.receiptOf(response);
    expect(outcome).toMatchObject({ outcome: "client_closed", source: "estimated" });
    expect(captured).toBeGreaterThan(0n);
  });
});

/** Whether the request has come to its end, and been paid. */
function isLogged({ headers }: Response): boolean {
  return gateway.log.about(headers.get("x-request-id") ?? "").some(({ event }) => event === "request");
}

async function firstAndLast(response: Response) {
  const frames = await dataOf(response);
  return [frames[0], frames.at(-1)];
}

describe("in every quadrant", () => {
  test.each(QUADRANTS)("$surface.name to $upstream holds, tells and books the same", async (quadrant) => {
    const { surface, model, upstream } = quadrant;
    gateway.upstream.on(model, tell({}));
    const before = await gateway.balances();
    const response = await ask(gateway, quadrant, { max_tokens: 100 });
    const asked = JSON.stringify(surface.body({ model, stream: false, max_tokens: 100 }));
    const sent = gateway.upstream.seen.at(-1)?.bodyText ?? "";
    const bytes = Math.max(Buffer.byteLength(asked), quadrant.isTranslated ? Buffer.byteLength(sent) : 0);
    await response.text();
    const receipt: Receipt = await gateway.receiptOf(response);
    // Two nano-dollars of a thousand for the dearest kind of input, and for output.
    expect(receipt.granted).toBe(BigInt(Math.ceil(bytes / 2)) * 2_000n + 200_000n);
    expect(receipt).toMatchObject({
      state: "settled",
      captured: nanosOf(USAGE),
      request: { surface: surface.name, model },
      outcome: {
        outcome: "ok",
        upstream: `scripted-${upstream}`,
        upstreamModel: model,
        usage: {
          inputTokens: 10,
          cachedInputTokens: 4,
          cacheWriteTokens: 3,
          cacheWrite1hTokens: 0,
          outputTokens: 7,
        },
      },
    });
    expect(response.headers.get("x-tollgate-cost-usd")).toBe("0.00002815");
    expect(Number(response.headers.get("x-tollgate-balance-usd"))).toBeCloseTo(
      Number(before.posted - receipt.captured) / 1e9,
      9,
    );
  });

  test.each(QUADRANTS)(
    "$surface.name to $upstream is given a ceiling when it names none",
    async (quadrant) => {
      for (const stream of [false, true]) {
        const response = await ask(gateway, quadrant, { max_tokens: undefined, stream });
        await response.text();
        expect(response.headers.get("x-tollgate-max-tokens")).toBe("1000");
        const sent = JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? "");
        expect(sent.max_tokens ?? sent.max_completion_tokens).toBe(1_000);
      }
    },
  );

  test("an answer without usage is counted the same, whoever asked whom", async () => {
    const usages = [];
    // Words whose count is also what they are estimated at, where there is no time to count.
    for (const quadrant of QUADRANTS) {
      for (const stream of [false, true]) {
        gateway.upstream.on(quadrant.model, tell({ usage: undefined }));
        const response = await ask(gateway, quadrant, { stream });
        await response.text();
        usages.push((await gateway.receiptOf(response)).outcome?.usage);
      }
    }
    expect(usages[0]).toMatchObject({ outputTokens: 5 });
    expect(new Set(usages.map((usage) => JSON.stringify(usage))).size).toBe(1);
  });

  test("a client that hears no usage on its wire still hears the answer", async () => {
    for (const quadrant of QUADRANTS) {
      gateway.upstream.on(quadrant.model, tell({ usage: undefined }));
      const whole = await hear(await ask(gateway, quadrant), quadrant);
      expect(whole).toMatchObject({ text: "Hello there, friend.", finish: "stop" });
    }
  });

  test("a request that the upstream does not take is the client's fault, in words of ours", async () => {
    for (const quadrant of QUADRANTS) {
      gateway.upstream.on(quadrant.model, answer({ status: 422, body: '{"detail":"no"}' }));
      await expectError(await ask(gateway, quadrant), quadrant.surface, "rejected_by_upstream");
    }
  });
});
