import { describe, expect, test } from "bun:test";
import { parseUnitPrice } from "../../src/domain/money.ts";
import {
  box,
  flacBytes,
  id3Tag,
  mp3Bytes,
  oggOpusBytes,
  repeated,
  riffChunk,
  waveBytes,
  webmBytes,
} from "../support/audio-files.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answerTranscript } from "../support/scripted-units.ts";
import { unitModel } from "../support/test-catalog.ts";

const SECOND = { name: "second", picos: parseUnitPrice("0.0001") } as const;
const CHAT_ERROR = { name: "chat" } as const;
const MEGABYTES_8 = 8_000_000;
const gateway = gatewayForTests({ models: [unitModel("ears", SECOND)] });

const FORGED = [
  ["a fact chunk", waveBytes(600, { before: [riffChunk("fact", Buffer.from([1, 0, 0, 0]))] })],
  ["Ogg granules", oggOpusBytes(30_000)],
  ["a WebM duration", webmBytes(30_000)],
  ["MP3 frames of 8 kbit/s", mp3Bytes(25_000)],
  ["FLAC samples", flacBytes(2_344)],
] as const;

const HOSTILE = [
  ["trak boxes", Buffer.concat([box("ftyp", Buffer.alloc(8)), many(box("trak", Buffer.alloc(0)))])],
  ["ID3 texts", many(id3Tag(Buffer.from("TXXX\0\0\0\x05\0\0\0a\0b\0")))],
  ["LIST chunks", Buffer.concat([waveBytes(1), many(riffChunk("LIST", Buffer.from("INFO")))])],
  ["Musepack packets", Buffer.concat([Buffer.from("MPCK"), many(Buffer.from("AP\x03"))])],
] as const;

function many(unit: Buffer): Buffer {
  return repeated(unit, Math.floor(MEGABYTES_8 / unit.length));
}

interface Ask {
  readonly secret?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

function transcribe(bytes: Buffer, { secret = gateway.secret, fields = {} }: Ask = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries({ model: "ears", ...fields })) form.append(name, value);
  form.append("file", new File([Uint8Array.from(bytes)], "speech.wav"));
  const headers = { authorization: `Bearer ${secret}` };
  return fetch(`${gateway.url}/v1/audio/transcriptions`, { method: "POST", headers, body: form });
}

describe("ten minutes of sound under a forged play time", () => {
  test.each(FORGED)("are charged where the upstream reports no seconds: %s", async (_, bytes) => {
    gateway.upstream.on("ears", answerTranscript());
    const response = await transcribe(bytes, { fields: { response_format: "srt" } });
    const { captured, outcome } = await gateway.receiptOf(response);
    expect(outcome?.usage?.units).toBeGreaterThanOrEqual(600);
    expect(captured).toBeGreaterThanOrEqual(60_000_000n);
    expect(captured).toBeLessThan(61_000_000n);
  });

  test.each(FORGED)("never take a wallet below zero when the upstream reports them: %s", async (_, bytes) => {
    gateway.upstream.on("ears", ...Array.from({ length: 3 }, () => answerTranscript({ duration: 600 })));
    const { key, secret } = await gateway.newPayer("0.07");
    const statuses: number[] = [];
    for (let sent = 0; sent < 3; sent += 1) statuses.push((await transcribe(bytes, { secret })).status);
    expect(statuses).toEqual([200, 402, 402]);
    expect((await gateway.balances(key.accountId)).posted).toBe(10_000_000n);
  });
});

describe("a hostile file", () => {
  test.each(HOSTILE)(
    "of an account without money is refused by the least that its bytes can play: %s",
    async (_, bytes) => {
      const { secret } = await gateway.newPayer("0");
      const response = await transcribe(bytes, { secret });
      // A file that was measured would need the cost of hours.
      expect(response.headers.get("x-tollgate-needed-usd")).toBe("0.0002");
      await expectError(response, CHAT_ERROR, "wallet_empty");
      expect(gateway.upstream.seen).toEqual([]);
    },
  );

  test.each(HOSTILE)("is held by its bytes, and answered: %s", async (_, bytes) => {
    gateway.upstream.on("ears", answerTranscript({ duration: 1 }));
    const response = await transcribe(bytes);
    expect(response.status).toBe(200);
    expect((await gateway.receiptOf(response)).captured).toBe(100_000n);
  });

  test("is refused by a spending limit before it is measured", async () => {
    const { key, secret } = await gateway.newPayer("5");
    await gateway.tollgate.ledger.setSpendLimit({
      limitId: "forged",
      walletId: key.accountId,
      keyId: key.id,
      amount: 1n,
      period: "total",
      timeZone: "UTC",
    });
    const response = await transcribe(HOSTILE[0][1], { secret });
    expect(response.headers.get("x-tollgate-needed-usd")).toBe("0.0002");
    await expectError(response, CHAT_ERROR, "spending_limit_short");
  });

  test("with half a million fields is refused as a form of the wrong shape", async () => {
    const part = Buffer.from('--x\r\ncontent-disposition: form-data; name="a"; filename="b"\r\n\r\n\r\n');
    const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.secret}`,
        "content-type": "multipart/form-data; boundary=x",
      },
      body: Buffer.concat([repeated(part, 120_000), Buffer.from("--x--\r\n")]),
    });
    await expectError(response, CHAT_ERROR, "wrong_shape");
  });
});
