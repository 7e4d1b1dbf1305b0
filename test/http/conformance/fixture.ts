import { afterAll, beforeAll, beforeEach, expect } from "bun:test";
import {
  collectLines,
  type FormatPair,
  postTo,
  readReply,
  replay,
} from "../../support/format-pairs/format-pair.ts";
import { nanosOf } from "../../support/format-pairs/neutral-answer.ts";
import { answer } from "../../support/script.ts";
import { EVENT_STREAM, frame } from "../../support/scripted-answers.ts";
import { framesOf, type Json } from "../../support/strict-json.ts";
import { scriptedModel } from "../../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.ts";

/** The usage that the events of stream-events.ts report. */
export const USAGE = { input: 11, cached: 0, written: 0, output: 7 };

/** A gateway whose upstreams send given events, and checks of what a client gets. */
export interface ConformanceFixture {
  gateway(): TestGateway;
  /** Streams the events in the framing of the pair's upstream. */
  play(pair: FormatPair, lines: readonly Json[]): void;
  /** Sends the whole answer that the events merge to. */
  playWhole(pair: FormatPair, lines: readonly Json[]): void;
  postTo(pair: FormatPair, stream?: boolean): Promise<Response>;
  /** Expects the client to get these members with {@link USAGE}, and the charge for that usage. */
  expectAnswer(pair: FormatPair, lines: readonly Json[], received: object): Promise<void>;
  /** Expects the client to get an error last and no finish. */
  expectFailure(pair: FormatPair, lines: readonly Json[]): Promise<void>;
}

/** Starts the gateway before the tests of a file, and stops it afterwards. */
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
  const put = (pair: FormatPair, stream = true) => postTo(gateway, pair, { stream });

  return {
    gateway: () => gateway,
    play,
    playWhole: ({ upstream, model }, lines) =>
      gateway.upstream.on(model, replay(collectLines(upstream, lines.map(textOf)))),
    postTo: put,
    async expectAnswer(pair, lines, received) {
      play(pair, lines);
      const response = await put(pair);
      const expected = { reasoning: "", text: "", refusal: "", calls: [], usage: USAGE, ...received };
      expect<unknown>(await readReply(response, pair)).toEqual(expected);
      expect((await gateway.receiptOf(response)).captured).toBe(nanosOf(USAGE));
    },
    async expectFailure(pair, lines) {
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
