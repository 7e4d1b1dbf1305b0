import { describe, expect, test } from "bun:test";
import { isGenuine, SIGNING_SECRET } from "../../src/domain/signed-message.ts";
import { CALLER_SECRET, signCall } from "../support/signed-call.ts";

const NOW_MS = 1_795_000_000_000;
const BODY = '{"type":"top_up"}';
const OTHER = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;

interface Change {
  readonly body?: string;
  readonly secrets?: readonly string[];
  readonly atMs?: number;
  readonly headers?: (signed: ReturnType<typeof signCall>) => Partial<ReturnType<typeof signCall>>;
}

function check({ body = BODY, secrets = [CALLER_SECRET], atMs = NOW_MS, headers }: Change = {}): boolean {
  const signed = signCall(BODY, { atMs });
  const all = { ...signed, ...headers?.(signed) };
  const message = {
    id: all["webhook-id"],
    timestamp: all["webhook-timestamp"],
    signature: all["webhook-signature"],
    body: Buffer.from(body),
  };
  return isGenuine(message, secrets, NOW_MS);
}

test("a signed message is genuine, also by the older of two secrets", () => {
  expect(check()).toBe(true);
  expect(check({ secrets: [OTHER, CALLER_SECRET] })).toBe(true);
});

test("a message with several signatures is genuine by one of them, of any position", () => {
  const other = signCall(BODY, { secret: OTHER, atMs: NOW_MS })["webhook-signature"];
  const join = (texts: readonly string[]) => ({ "webhook-signature": texts.join(" ") });
  expect(check({ headers: (it) => join([other, it["webhook-signature"]]) })).toBe(true);
  expect(check({ headers: (it) => join([it["webhook-signature"], other]) })).toBe(true);
  expect(check({ headers: (it) => join(["v1a,key-of-another-kind", it["webhook-signature"]]) })).toBe(true);
  expect(check({ headers: () => join([other, other]) })).toBe(false);
  expect(check({ headers: (it) => join(Array(9).fill(it["webhook-signature"])) })).toBe(false);
});

test("the sender's clock may be off by 5 minutes", () => {
  for (const offsetS of [-300, 0, 300]) expect(check({ atMs: NOW_MS + offsetS * 1_000 })).toBe(true);
  for (const offsetS of [-301, 301, 86_400]) expect(check({ atMs: NOW_MS + offsetS * 1_000 })).toBe(false);
});

test("a message that differs by one byte is not genuine", () => {
  for (let at = 0; at < BODY.length; at += 1) {
    const bytes = Buffer.from(BODY);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    expect(check({ body: bytes.toString() })).toBe(false);
  }
  expect(check({ body: `${BODY} ` })).toBe(false);
  expect(check({ secrets: [OTHER] })).toBe(false);
  expect(check({ secrets: [] })).toBe(false);
});

describe("headers that are missing, malformed or sent twice are not genuine", () => {
  const cases: Readonly<Record<string, NonNullable<Change["headers"]>>> = {
    "another id": () => ({ "webhook-id": "msg_2" }),
    "no id": () => ({ "webhook-id": "" }),
    "an id sent twice": () => ({ "webhook-id": "msg_1, msg_1" }),
    "an id with a dot that moves the time": (it) => ({ "webhook-id": `msg_1.${it["webhook-timestamp"]}` }),
    "no time": () => ({ "webhook-timestamp": "" }),
    "a time sent twice": (it) => ({ "webhook-timestamp": `${it["webhook-timestamp"]}, 1` }),
    "a time with a zero before it": (it) => ({ "webhook-timestamp": `0${it["webhook-timestamp"]}` }),
    "a time in scientific notation": () => ({ "webhook-timestamp": "1.795e9" }),
    "no signature": () => ({ "webhook-signature": "" }),
    "a signature sent twice": (it) => ({
      "webhook-signature": `${it["webhook-signature"]}, ${it["webhook-signature"]}`,
    }),
    "a signature without its version": (it) => ({
      "webhook-signature": it["webhook-signature"].replace("v1,", ""),
    }),
    "a signature of another version": (it) => ({
      "webhook-signature": it["webhook-signature"].replace("v1,", "v1a,"),
    }),
    "a shortened signature": (it) => ({ "webhook-signature": it["webhook-signature"].slice(0, -4) }),
    "an empty signature": () => ({ "webhook-signature": "v1," }),
  };
  test.each(Object.entries(cases))("%s", (_, headers) => {
    expect(check({ headers })).toBe(false);
  });
});

test("a signing secret has 24 to 64 bytes", () => {
  const accepts = (bytes: number) =>
    new RegExp(SIGNING_SECRET).test(`whsec_${Buffer.alloc(bytes, 5).toString("base64")}`);
  for (const bytes of [24, 25, 26, 27, 32, 63, 64]) expect([bytes, accepts(bytes)]).toEqual([bytes, true]);
  for (const bytes of [0, 1, 16, 23, 67, 128]) expect([bytes, accepts(bytes)]).toEqual([bytes, false]);
  for (const text of ["", "whsec_", "a".repeat(40), `whsec_${"a".repeat(33)}`]) {
    expect(new RegExp(SIGNING_SECRET).test(text)).toBe(false);
  }
});
