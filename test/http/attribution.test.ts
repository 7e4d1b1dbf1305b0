import { describe, expect, test } from "bun:test";
import { type AttributionEdit, setAttribution } from "../../src/accounts/attribution/settings.ts";
import { COMMAND_LINE } from "../../src/accounts/audit-trail.ts";
import { parseUsd } from "../../src/domain/money.ts";
import { CHAT, MESSAGES, post, RESPONSES, type Surface } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";

const gateway = gatewayForTests();

type AnySurface = Surface<"chat" | "messages" | "responses">;

/** Returns the scopes of the receipt of a response as texts: "end_user alice". */
async function scopesOf(response: Response, accountId?: string): Promise<readonly string[]> {
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  const { scopes } = await gateway.receiptOf(response, accountId);
  return scopes.map(({ kind, id }) => `${kind} ${id}`);
}

/** A key of a new account with 100 USD and these settings. */
async function newPayer(edit: AttributionEdit = {}, usd = "100") {
  const { database } = gateway.tollgate;
  const payer = await gateway.newPayer(usd);
  await setAttribution({ database, now: Date.now }, COMMAND_LINE, payer.key.accountId, edit);
  return payer;
}

/** Checks an error that names the header. */
function expectWrongHeader(response: Response, surface: AnySurface, header: string): Promise<void> {
  return expectError(response, surface, "wrong_header", {
    message: `The request has a header that is not valid: ${header}`,
  });
}

const user = (name: string) => ({ "x-tollgate-user": name });

/** The body of each surface that names an end user. */
const NAMED: readonly (readonly [AnySurface, Record<string, unknown>])[] = [
  [CHAT, { user: "alice" }],
  [RESPONSES, { user: "alice" }],
  [MESSAGES, { metadata: { user_id: "alice" } }],
];

describe.each(NAMED)("an end user on %p", (surface, named) => {
  test("is named by the body, and by the header first", async () => {
    expect(await scopesOf(await post(gateway, surface, named))).toEqual(["end_user alice"]);
    const both = await post(gateway, surface, { ...named, headers: user("bob") });
    expect(await scopesOf(both)).toEqual(["end_user bob"]);
  });

  test("goes to the upstream by the body alone", async () => {
    await (await post(gateway, surface, { ...named, headers: user("bob") })).text();
    const [seen] = gateway.upstream.seen;
    expect(JSON.stringify(seen?.headers)).not.toContain("bob");
    expect(JSON.stringify(seen?.headers)).not.toContain("x-tollgate");
    expect(JSON.parse(seen?.bodyText ?? "")).toMatchObject(named);
  });

  test("of a hostile header is refused under the name of the header", async () => {
    for (const name of ["", "x".repeat(257), "x".repeat(8_000), "a\tb"]) {
      const refused = await post(gateway, surface, { headers: user(name) });
      await expectWrongHeader(refused, surface, "x-tollgate-user");
    }
    expect(gateway.upstream.seen).toHaveLength(0);
  });
});

test("a request without any of it has no scopes", async () => {
  expect(await scopesOf(await post(gateway, CHAT))).toEqual([]);
});

test("an end user of a body that cannot be an id is named by its hash, and one that is no text not at all", async () => {
  const long = "x".repeat(300);
  const [named] = await scopesOf(await post(gateway, CHAT, { user: long }));
  expect(named).toMatch(/^end_user sha256:[0-9a-f]{64}$/);
  expect(await scopesOf(await post(gateway, CHAT, { user: long }))).toEqual([named ?? ""]);
  const [lines] = await scopesOf(await post(gateway, CHAT, { user: "a\nb" }));
  expect(lines).toMatch(/^end_user sha256:/);
  for (const other of [42, null, ["alice"], { id: "alice" }, ""]) {
    expect(await scopesOf(await post(gateway, CHAT, { user: other }))).toEqual([]);
  }
});

test("the user of a messages body may be any JSON text, as Claude Code sends it", async () => {
  const userId = JSON.stringify({ device_id: "d".repeat(64), account_uuid: "", session_id: "s" });
  const named = await scopesOf(await post(gateway, MESSAGES, { metadata: { user_id: userId } }));
  expect(named).toEqual([`end_user ${userId}`]);
});

test("large bodies and repeated conversations name the end user of each request", async () => {
  const large = { messages: [{ role: "user", content: "x".repeat(2_000_000) }] };
  expect(await scopesOf(await post(gateway, CHAT, { ...large, user: "alice" }))).toEqual(["end_user alice"]);
  const turns = Array.from({ length: 40 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: `${at} ${"word ".repeat(400)}`,
  }));
  for (const [length, user] of [
    [36, "alice"],
    [38, "bob"],
    [40, "carol"],
    [40, undefined],
  ] as const) {
    const answer = await post(gateway, MESSAGES, {
      messages: turns.slice(0, length - 1),
      metadata: { user_id: user },
    });
    expect(await scopesOf(answer)).toEqual(user === undefined ? [] : [`end_user ${user}`]);
  }
});

test("names beyond ASCII arrive as their clients wrote them, in UTF-8 or Latin-1", async () => {
  const utf8 = Buffer.from("Zoë", "utf8").toString("latin1");
  expect(await scopesOf(await post(gateway, CHAT, { headers: user(utf8) }))).toEqual(["end_user Zoë"]);
  expect(await scopesOf(await post(gateway, CHAT, { headers: user("Zo\xeb") }))).toEqual(["end_user Zoë"]);
});

test("an account keeps end users as hashes of its own, or not at all", async () => {
  const [hashed, other] = [await newPayer({ endUsers: "hashed" }), await newPayer({ endUsers: "hashed" })];
  const ask = async ({ secret, key }: typeof hashed) =>
    scopesOf(await post(gateway, CHAT, { secret, user: "alice" }), key.accountId);
  const [first] = await ask(hashed);
  expect(first).toMatch(/^end_user [0-9a-f]{64}$/);
  expect(await ask(hashed)).toEqual([first ?? ""]);
  expect(await ask(other)).not.toEqual([first ?? ""]);
  const off = await newPayer({ endUsers: "off" });
  expect(await ask(off)).toEqual([]);
  const byHeader = await post(gateway, CHAT, { secret: off.secret, headers: user("alice") });
  expect(await scopesOf(byHeader, off.key.accountId)).toEqual([]);
});

describe("tags", () => {
  const tags = (text: string) => ({ "x-tollgate-tags": text });

  test("of declared keys are on the receipt", async () => {
    const { secret, key } = await newPayer({ tagKeys: ["feature", "team"] });
    const tagged = await post(gateway, CHAT, { secret, headers: tags("feature=search, team = blue ") });
    expect(await scopesOf(tagged, key.accountId)).toEqual(["tag feature=search", "tag team=blue"]);
    const odd = await post(gateway, CHAT, { secret, headers: tags("feature=a=b;c") });
    expect(await scopesOf(odd, key.accountId)).toEqual(["tag feature=a=b;c"]);
  });

  test("that do not fit are refused under the name of the header", async () => {
    const { secret } = await newPayer({ tagKeys: ["a", "b", "c", "d", "e", "f"] });
    const wrong = [
      "",
      "a",
      "=x",
      "a=",
      "unknown=x",
      "A=x",
      "a=x,",
      "a=x,a=y",
      "a=x, a=x",
      `a=${"x".repeat(65)}`,
      "a=x\ty",
      "a=1,b=2,c=3,d=4,e=5,f=6",
      "a=1,".repeat(2_000),
      "__proto__=x",
    ];
    for (const text of wrong) {
      const refused = await post(gateway, CHAT, { secret, headers: tags(text) });
      await expectWrongHeader(refused, CHAT, "x-tollgate-tags");
    }
  });

  test("of an account that declares none are refused", async () => {
    const refused = await post(gateway, CHAT, { headers: tags("feature=search") });
    await expectWrongHeader(refused, CHAT, "x-tollgate-tags");
  });
});

describe("a request that bounds its own cost", () => {
  const max = (usd: string, more: object = {}) => ({ "x-tollgate-max-cost-usd": usd, ...more });
  const large = { max_tokens: 4_000 };

  test("is refused when the least that it may cost is more, and says how much", async () => {
    const declined = await post(gateway, CHAT, { ...large, headers: max("0.001") });
    expect(declined.headers.get("x-tollgate-limit")).toBe("request");
    expect(declined.headers.get("x-tollgate-available-usd")).toBe("0.001");
    const needed = declined.headers.get("x-tollgate-needed-usd") ?? "";
    await expectError(declined, CHAT, "max_cost");
    const exact = await post(gateway, CHAT, { ...large, headers: max(needed) });
    expect(exact.status).toBe(200);
    const receipt = await gateway.receiptOf(exact);
    expect(receipt.granted).toBe(parseUsd(needed));
  });

  test("gets a lower output limit where it allows that, and never holds more", async () => {
    const headers = max("0.002", { "x-tollgate-clamp": "allow" });
    const clamped = await post(gateway, CHAT, { ...large, headers });
    expect(clamped.status).toBe(200);
    expect(Number(clamped.headers.get("x-tollgate-max-tokens"))).toBeLessThan(4_000);
    expect((await gateway.receiptOf(clamped)).granted).toBeLessThanOrEqual(parseUsd("0.002"));
    const least = await post(gateway, CHAT, { ...large, headers: { ...headers, ...max("0.0001") } });
    await expectError(least, CHAT, "max_cost");
  });

  test("without an output limit of its own gets a lower one without asking", async () => {
    const clamped = await post(gateway, CHAT, { headers: max("0.001") });
    expect(clamped.status).toBe(200);
    expect((await gateway.receiptOf(clamped)).granted).toBeLessThanOrEqual(parseUsd("0.001"));
  });

  test("by no amount is refused under the name of the header", async () => {
    for (const text of ["", "NaN", "-1", "1e3", "0x10", "1,5", "Infinity", "9".repeat(8_000)]) {
      const refused = await post(gateway, CHAT, { headers: max(text) });
      await expectWrongHeader(refused, CHAT, "x-tollgate-max-cost-usd");
    }
  });
});
