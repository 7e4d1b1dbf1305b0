import { beforeEach, describe, expect, test } from "bun:test";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { setOperator } from "../../../src/accounts/people/directory.ts";
import { listSessions } from "../../../src/accounts/people/sessions.ts";
import { createConsole } from "../../../src/http/console/entry.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { addMember } from "../../accounts/actors.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { CHAT, MESSAGES, post } from "../../support/client.ts";
import { gate } from "../../support/script.ts";
import { answerWith } from "../../support/scripted-answers.ts";
import { openTestConsole, type TestConsole } from "../../support/test-console.ts";
import { consoleForTests } from "./open-consoles.ts";

describe.each(DIALECTS)("requests on %s", (dialect) => {
  const console = consoleForTests(dialect);
  beforeEach(() => console.gateway.upstream.reset());

  const payer = async () => {
    const { key, secret } = await console.gateway.newPayer("5");
    const viewer = await console.newMember(key.accountId, "viewer");
    const read = async (path: string, status = 200) => {
      const answer = await console.call(viewer, "GET", `/accounts/${key.accountId}${path}`);
      expect([path, answer.status]).toEqual([path, status]);
      return answer.json;
    };
    /** Follows every page: one of a slow search ends after 150 ms, also unfilled. */
    const find = async (query: string) => {
      const ids: string[] = [];
      let page = "";
      do {
        const { items, next } = await read(`/requests?${query}${page}`);
        ids.push(...items.map(({ id }: { id: string }) => id));
        page = next === null ? "" : `&page=${next}`;
      } while (page !== "");
      return ids;
    };
    return { accountId: key.accountId, keyId: key.id, secret, viewer, read, find };
  };
  const idOf = (response: Response) => response.headers.get("x-request-id") ?? "";

  test("are listed newest first, page by page", async () => {
    const { secret, keyId, read } = await payer();
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1)
      ids.unshift(idOf(await post(console.gateway, CHAT, { secret })));
    const first = await read("/requests?size=2");
    expect(first.items[0]).toMatchObject({
      id: ids[0],
      key_id: keyId,
      key_name: "test",
      model: "chat",
      upstream: "scripted-openai",
      surface: "chat",
      state: "settled",
      outcome: "ok",
      source: "reported",
      input_tokens: 11,
      output_tokens: 7,
      charged_usd: "0.000025",
    });
    const second = await read(`/requests?size=2&page=${first.next}`);
    const third = await read(`/requests?size=2&page=${second.next}`);
    const listed = [...first.items, ...second.items, ...third.items].map(({ id }: { id: string }) => id);
    expect(listed).toEqual(ids);
    expect(third.next).toBeNull();
  });

  test("are listed dearest or slowest first, in one page", async () => {
    const { accountId, keyId, read } = await payer();
    const { ledger } = console.parts;
    await ledger.topUp({ walletId: accountId, topUpId: "dear", amount: 10_000_000_000n });
    for (const [n, amount] of [3n, 9n, 1n].entries()) {
      await ledger.charge({
        ...{ walletId: accountId, keyId, chargeId: `charge-${n}`, amount: amount * 1_000_000_000n },
        facts: { surface: "grpc", model: "video" },
        outcome: { outcome: "ok", source: "reported", totalMs: 10 * n, attempts: [] },
      });
    }
    const dearest = await read("/requests?sort=-charged&size=2");
    const charged = dearest.items.map(({ charged_usd }: { charged_usd: string }) => charged_usd);
    expect(charged).toEqual(["9.00", "3.00"]);
    expect(dearest).toMatchObject({ next: null, ordered_from: null });
    const slowest = (await read("/requests?sort=-duration&size=1")).items;
    expect(slowest).toMatchObject([{ total_ms: 20, charged_usd: "1.00" }]);
    expect((await read("/requests?sort=-charged&model=none")).items).toEqual([]);
  });

  test("are ordered over more of them than a page has", async () => {
    const { accountId, keyId, read } = await payer();
    const { ledger } = console.parts;
    await ledger.topUp({ walletId: accountId, topUpId: "dear", amount: 10_000_000_000n });
    const charge = (n: number) =>
      ledger.charge({
        ...{ walletId: accountId, keyId, chargeId: `charge-${n}`, amount: BigInt(100 - n) },
        facts: { surface: "grpc", model: "video" },
        outcome: { outcome: "ok", source: "reported", totalMs: n, attempts: [] },
      });
    for (let n = 0; n < 30; n += 1) await charge(n);
    const dearest = await read("/requests?sort=-charged&size=4");
    expect(dearest.ordered_from).toBeNull();
    const slowest = await read("/requests?sort=-duration&size=4&model=video");
    expect(slowest.items.map(({ total_ms }: { total_ms: number }) => total_ms)).toEqual([29, 28, 27, 26]);
    expect(dearest.items[0].charged_usd).toBe("0.0000001");
  });

  test("are filtered by key, model, upstream, outcome, surface, state and time", async () => {
    const { secret, keyId, find } = await payer();
    const chat = idOf(await post(console.gateway, CHAT, { secret }));
    const claude = idOf(await post(console.gateway, MESSAGES, { secret }));
    console.gateway.upstream.on("chat", answerWith(undefined, { status: 500 }));
    const failed = idOf(await post(console.gateway, CHAT, { secret }));
    expect(await find(`key=${keyId}`)).toEqual([failed, claude, chat]);
    expect(await find("key=other")).toEqual([]);
    expect(await find("model=claude")).toEqual([claude]);
    expect(await find("upstream=scripted-anthropic")).toEqual([claude]);
    expect(await find("outcome=ok")).toEqual([claude, chat]);
    expect(await find("outcome=upstream_unavailable")).toEqual([failed]);
    expect(await find("failed=true")).toEqual([failed]);
    expect(await find("surface=messages")).toEqual([claude]);
    expect(await find("state=released&model=chat")).toEqual([failed]);
    expect(await find("from=2020-01-01T00:00:00Z&to=2021-01-01T00:00:00Z")).toEqual([]);
  });

  test("are found by a member of their metadata, which may hold colons", async () => {
    const { accountId, keyId, read, find } = await payer();
    const { ledger } = console.gateway.tollgate;
    const holdId = Bun.randomUUIDv7();
    const facts = { surface: "service", model: "own" };
    await ledger.hold({
      walletId: accountId,
      holdId,
      keyId,
      amount: 9n,
      minimum: 9n,
      ttlMs: 60_000,
      facts,
      metadata: { job: "a:b", user: "u" },
    });
    const settled = { outcome: "ok", source: "reported", attempts: [] } as const;
    await ledger.settle({ walletId: accountId, holdId, amount: 4n, facts: settled });
    const ids = (metadata: string) => find(`metadata=${encodeURIComponent(metadata)}`);
    expect(await ids("job:a:b")).toEqual([holdId]);
    expect(await ids("user:other")).toEqual([]);
    await read("/requests?metadata=no-colon", 422);
    expect((await read(`/requests/${holdId}`)).metadata).toEqual({ job: "a:b", user: "u" });
    const detail = await read(`/requests/${holdId}`);
    expect(detail.lines).toEqual([
      { class: "other", tokens: 0, price_usd_per_million: "0.00", amount_usd: "0.000000004" },
    ]);
    await console.gateway.nothingIsHeld(accountId);
  });

  test.each(["page=x", "page=%00", "size=0", "size=101", "from=1", "state=open", "key=%00", "model=%00"])(
    "with the bad query %s are answered 422",
    async (query) => {
      const { read } = await payer();
      expect((await read(`/requests?${query}`, 422)).error.code).toBe("invalid_request");
    },
  );

  test("have a receipt with hold, attempts, lines that add up, and sentences", async () => {
    const { secret, read } = await payer();
    console.gateway.upstream.on("chat", answerWith({ text: "Hi.", usage: { input: 100, output: 3 } }));
    const id = idOf(await post(console.gateway, CHAT, { secret }));
    expect(await read(`/requests/${id.toUpperCase()}`)).toMatchObject({
      id,
      state: "settled",
      late: false,
      charged_usd: "0.000106",
      refunded_usd: "0.00",
      upstream_model: "chat",
      attempts: [{ upstream: "scripted-openai", status: 200, ms: expect.any(Number) }],
      lines: [
        { class: "input", tokens: 100, price_usd_per_million: "1.00", amount_usd: "0.0001" },
        { class: "output", tokens: 3, price_usd_per_million: "2.00", amount_usd: "0.000006" },
      ],
      rounding_usd: "0.00",
      saved_by_caching_usd: "0.00",
      source_text: "The provider reported these tokens with its answer.",
      outcome_text: "The answer was complete.",
    });
  });

  test.each([
    [
      "above its bound",
      { usage: { input: 100, output: 5_000 } },
      "above_bound",
      "The provider reported more than this request allowed: the charge was bounded by its limit.",
    ],
    [
      "without a number",
      { usage: { input: 100, output: -1 } },
      "uncountable",
      "The provider left out a number, or sent one that cannot be counted: the gateway counted instead.",
    ],
    [
      "that never came",
      {},
      "missing",
      "The provider reported no tokens: the gateway counted prompt and answer.",
    ],
  ])("of a report %s have a sentence of their own", async (_name, output, report, sentence) => {
    const { secret, read } = await payer();
    console.gateway.upstream.on("chat", answerWith({ text: "Hi.", ...output }));
    const id = idOf(await post(console.gateway, CHAT, { secret }));
    expect(await read(`/requests/${id}`)).toMatchObject({
      outcome: "ok",
      source: "estimated",
      attempts: [{ status: 200, report }],
      source_text: sentence,
    });
  });

  test("that failed and that still run have receipts of their own words", async () => {
    const { secret, read, accountId } = await payer();
    console.gateway.upstream.on("chat", answerWith(undefined, { status: 500 }));
    const failed = idOf(await post(console.gateway, CHAT, { secret }));
    const released = await read(`/requests/${failed}`);
    expect(released).toMatchObject({ state: "released", charged_usd: "0.00", lines: [], source: "none" });
    expect(released.released_usd).toBe(released.granted_usd);
    const { opened, open } = gate();
    console.gateway.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 0, gate: opened } }));
    const running = post(console.gateway, CHAT, { secret });
    await console.gateway.upstream.waitForSeen(2);
    const [row] = (await read("/requests?size=1")).items;
    expect(await read(`/requests/${row.id}`)).toMatchObject({
      state: "held",
      outcome: null,
      released_usd: "0.00",
      lines: [],
      resolved_at: null,
      outcome_text: "The request is still running.",
    });
    open();
    await running;
    await console.gateway.nothingIsHeld(accountId);
  });

  test("of another account, and ids of no request, are not found", async () => {
    const { secret } = await payer();
    const id = idOf(await post(console.gateway, CHAT, { secret }));
    const { read } = await payer();
    for (const bad of [id, "x", "%01", crypto.randomUUID(), "..%2f"]) {
      expect((await read(`/requests/${bad}`, 404)).error.code).toBe("model_not_found");
    }
  });

  describe("that are followed live", () => {
    /** Opens streams on a console that counts its reads of receipts. All but the first one wait for `later`. */
    const openLive = (overrides: Partial<TestConsole["parts"]> = {}, later?: Promise<void>) => {
      let polls = 0;
      const { ledger } = console.parts;
      const counting: Ledger = Object.assign(Object.create(ledger), {
        receipts: async (...given: Parameters<Ledger["receipts"]>) => {
          polls += 1;
          if (polls > 1) await later;
          return ledger.receipts(...given);
        },
      });
      const entry = createConsole({ ...console.parts, ledger: counting, ...overrides });
      const open = async (actor: Actor, accountId: string, signal?: AbortSignal) => {
        const url = `http://console.test/console/api/accounts/${accountId}/requests/live`;
        const headers = { "x-test-actor": actor.id };
        return entry(new Request(url, { headers, signal: signal ?? null }), "192.0.2.1");
      };
      return { open, polls: () => polls };
    };

    /** Reads the rows of a stream until `isDone`. Rejects at its end. */
    async function readRows(
      reader: ReadableStreamDefaultReader<Uint8Array>,
      isDone: (rows: { id: string; state: string }[], count: number) => boolean,
    ) {
      const decoder = new TextDecoder();
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) throw new Error("The stream ended");
        text += decoder.decode(value, { stream: true });
        for (;;) {
          const end = text.indexOf("\n\n");
          if (end < 0) break;
          const event = text.slice(0, end);
          text = text.slice(end + 2);
          const [, count, data] = event.match(/^event: rows\nid: (\d+)\ndata: (.*)$/) ?? [];
          if (data !== undefined && isDone(JSON.parse(data), Number(count))) return;
        }
      }
    }
    const readerOf = (response: Response) => {
      expect(response.headers.get("content-type")).toContain("text/event-stream");
      if (!response.body) throw new Error("The stream has no body");
      return response.body.getReader();
    };

    test("come to three tabs by one poll, first running and then settled", async () => {
      const { secret, viewer, accountId } = await payer();
      await post(console.gateway, CHAT, { secret });
      const later = gate();
      const { open, polls } = openLive({}, later.opened);
      const tabs = (await Promise.all([1, 2, 3].map(() => open(viewer, accountId)))).map(readerOf);
      // A poll of each tab would be three. On a busy machine the next one may have begun, which waits.
      expect(polls()).toBeLessThan(3);
      await Promise.all(tabs.map((tab) => readRows(tab, (rows) => rows.length === 1)));
      later.open();
      const { opened, open: answer } = gate();
      console.gateway.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 0, gate: opened } }));
      const running = post(console.gateway, CHAT, { secret });
      await console.gateway.upstream.waitForSeen(2);
      await Promise.all(tabs.map((tab) => readRows(tab, ([row]) => row?.state === "held")));
      answer();
      const id = idOf(await running);
      await Promise.all(
        tabs.map((tab) =>
          readRows(tab, (rows) => rows.some((row) => row.id === id && row.state === "settled")),
        ),
      );
      await Promise.all(tabs.map((tab) => tab.cancel()));
      const before = polls();
      await Bun.sleep(4_500);
      expect(polls() - before).toBeLessThanOrEqual(1);
    });

    test("are all counted by the ids of events, also those that came faster than they are read", async () => {
      const { secret, viewer, accountId } = await payer();
      await post(console.gateway, CHAT, { secret });
      const later = gate();
      const tab = readerOf(await openLive({}, later.opened).open(viewer, accountId));
      await readRows(tab, (_, count) => count === 0);
      const charges = Array.from({ length: 450 }, (_, at) => ({
        ...{ walletId: accountId, keyId: "service", chargeId: `burst-${at}`, amount: 1n },
        facts: { surface: "grpc", model: "chat" },
        outcome: { outcome: "ok", source: "reported" as const, attempts: [] },
      }));
      for (let from = 0; from < charges.length; from += 50) {
        await Promise.all(
          charges.slice(from, from + 50).map((charge) => console.parts.ledger.charge(charge)),
        );
        await Bun.sleep(5);
      }
      later.open();
      const seen = new Set<string>();
      await readRows(tab, (rows, count) => {
        for (const { id } of rows) seen.add(id);
        // Requests of one millisecond cannot be told apart by time.
        return count >= 400;
      });
      expect(seen.size).toBeLessThan(450);
      await tab.cancel();
    });

    test("are settled in the list although 50 newer ones came while they ran", async () => {
      const { secret, viewer, accountId } = await payer();
      const { opened, open: answer } = gate();
      console.gateway.upstream.on(
        "chat",
        answerWith(undefined, { pauseAt: { bytes: 0, gate: opened } }),
        answerWith(),
      );
      const running = post(console.gateway, CHAT, { secret });
      await console.gateway.upstream.waitForSeen(1);
      const { open } = openLive();
      const tab = readerOf(await open(viewer, accountId));
      await readRows(tab, ([row]) => row?.state === "held");
      await Promise.all(Array.from({ length: 55 }, () => post(console.gateway, CHAT, { secret })));
      const last = idOf(await post(console.gateway, CHAT, { secret }));
      await readRows(tab, (rows) => rows.some((row) => row.id === last));
      answer();
      const id = idOf(await running);
      await readRows(tab, (rows) => rows.some((row) => row.id === id && row.state === "settled"));
      await tab.cancel();
    });

    test("are at most 4 streams of a session, and an ended one makes room", async () => {
      const { viewer, accountId } = await payer();
      const { open } = openLive();
      const tabs = await Promise.all([1, 2, 3, 4].map(() => open(viewer, accountId)));
      expect(tabs.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const fifth = await open(viewer, accountId);
      expect([fifth.status, fifth.headers.get("retry-after")]).toEqual([429, "15"]);
      await tabs[0]?.body?.cancel();
      const again = await open(viewer, accountId);
      expect(again.status).toBe(200);
      await Promise.all([...tabs.slice(1), again].map((tab) => tab.body?.cancel()));
    });

    test("end when the caller disconnects, and when the process stops", async () => {
      const { viewer, accountId } = await payer();
      const stopping = new AbortController();
      const { open } = openLive({ stopping: stopping.signal });
      const client = new AbortController();
      const left = readerOf(await open(viewer, accountId, client.signal));
      const stopped = readerOf(await open(viewer, accountId));
      const end = async (reader: ReadableStreamDefaultReader<Uint8Array>) => {
        while (!(await reader.read()).done);
      };
      client.abort();
      await end(left);
      stopping.abort();
      await end(stopped);
      const late = readerOf(await open(viewer, accountId));
      await end(late);
    });

    test("end within seconds when the viewer loses its sessions, or must set a password or a second factor", async () => {
      const { accountId } = await payer();
      const { parts } = console;
      const session = { id: "s", mustChangePassword: false, confirmedAtMs: undefined };
      const becomesOperator = async () => {
        const viewer = await addMember(parts.database, accountId, "viewer");
        const hasSession = async () => (await listSessions(parts.database, viewer.id, Date.now())).length > 0;
        const { open } = openLive({ identify: async () => ((await hasSession()) ? viewer : undefined) });
        const reader = readerOf(await open(viewer, accountId));
        await setOperator(parts, console.newOperator(), { personId: viewer.id, isOperator: true });
        while (!(await reader.read()).done);
      };
      const has = async (duty: Partial<typeof session> | { mustSetUpFactor: true }) => {
        const viewer = await addMember(parts.database, accountId, "viewer");
        let isDue = false;
        const { open } = openLive({
          identify: async () => ({ ...viewer, session: { ...session, ...(isDue ? duty : {}) } }),
        });
        const reader = readerOf(await open(viewer, accountId));
        isDue = true;
        while (!(await reader.read()).done);
      };
      await Promise.all([
        becomesOperator(),
        has({ mustChangePassword: true }),
        has({ mustSetUpFactor: true }),
      ]);
    });

    test("are of no other account, and need a session", async () => {
      const { accountId } = await payer();
      const { viewer: stranger } = await payer();
      const { open } = openLive();
      expect((await open(stranger, accountId)).status).toBe(404);
      expect((await console.call(undefined, "GET", `/accounts/${accountId}/requests/live`)).status).toBe(401);
    });
  });
});

test("a gateway that stops ends the live lists first", async () => {
  const console = await openTestConsole();
  const { stopping } = console.gateway.tollgate.console.parts;
  expect(stopping.aborted).toBe(false);
  await console.stop();
  expect(stopping.aborted).toBe(true);
});
