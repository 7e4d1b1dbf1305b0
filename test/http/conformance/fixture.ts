import { afterAll, beforeAll, beforeEach, expect } from "bun:test";
import { nanosOf } from "../../support/protocol-pairs/neutral-answer.ts";
import {
  collectLines,
  type ProtocolPair,
  postTo,
  readReply,
  replay,
} from "../../support/protocol-pairs/protocol-pair.ts";
import { answer } from "../../support/script.ts";
import { EVENT_STREAM, frame } from "../../support/scripted-answers.ts";
import { framesOf, type Json } from "../../support/strict-json.ts";
import { scriptedModel } from "../../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.ts";

/** What the lines of `lines.ts` report, as far as they report at all. */
export const USAGE = { input: 11, cached: 0, written: 0, output: 7 };

/** A gateway whose upstreams say given lines, and what a client before it must hear of them. */
export interface ConformanceFixture {
  gateway(): TestGateway;
  /** Plays lines as the quadrant's upstream frames them. */
  play(pair: ProtocolPair, lines: readonly Json[]): void;
  /** Plays the whole answer that they come to. */
  playWhole(pair: ProtocolPair, lines: readonly Json[]): void;
  postTo(pair: ProtocolPair, stream?: boolean): Promise<Response>;
  /** They are heard so, with the usage of {@link USAGE}, and billed by it. */
  expectHeard(pair: ProtocolPair, lines: readonly Json[], heard: object): Promise<void>;
  /** They end in an error, as the last thing a client sees, and in no finish. */
  expectBroken(pair: ProtocolPair, lines: readonly Json[]): Promise<void>;
}

/** Starts one for a file of tests, and stops it after them. */
export function startFixture(): ConformanceFixture {
  let gateway: TestGateway;
  beforeAll(async () => {
    const models = [scriptedModel("gpt", "openai"), scriptedModel("claude", "anthropic")];
    gateway = await startTestGateway({ models });
  });
  beforeEach(() => gateway.upstream.reset());
  afterAll(() => gateway.stop());

  const play: ConformanceFixture["play"] = ({ upstream, model }, lines) => {
    const body = frame(upstream, lines.map(textOf));
    gateway.upstream.on(model, answer({ headers: EVENT_STREAM, body }));
  };
  const put = (pair: ProtocolPair, stream = true) => postTo(gateway, pair, { stream });

  return {
    gateway: () => gateway,
    play,
    playWhole: ({ upstream, model }, lines) =>
      gateway.upstream.on(model, replay(collectLines(upstream, lines.map(textOf)))),
    postTo: put,
    async expectHeard(pair, lines, heard) {
      play(pair, lines);
      const response = await put(pair);
      const expected = { reasoning: "", text: "", refusal: "", calls: [], usage: USAGE, ...heard };
      expect<unknown>(await readReply(response, pair)).toEqual(expected);
      expect((await gateway.receiptOf(response)).captured).toBe(nanosOf(USAGE));
    },
    async expectBroken(pair, lines) {
      play(pair, lines);
      const response = await put(pair);
      const body = await response.text();
      const { outcome } = await gateway.receiptOf(response);
      expect(outcome?.outcome).toBe("upstream_unavailable");
      if (response.status === 200) {
        expect(outcome?.source).toBe("estimated");
        expect(framesOf(body).at(-1)?.json).toHaveProperty("error");
        expect(body).not.toMatch(/"(finish_reason|stop_reason)":"|message_stop|\[DONE\]/);
      } else {
        expect([response.status, outcome?.source]).toEqual([502, "none"]);
        expect(JSON.parse(body)).toHaveProperty("error");
      }
    },
  };
}

function textOf(line: Json): string {
  return JSON.stringify(line);
}
