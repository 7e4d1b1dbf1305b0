// Random requests of every form to random models, each charged as the oracles say.
import fc from "fast-check";
import { COMMAND_LINE } from "../../../src/accounts/audit-trail.ts";
import { setMarkup } from "../../../src/accounts/markup.ts";
import type { Model } from "../../../src/domain/model.ts";
import { parseMarkup, parseUsd } from "../../../src/domain/money.ts";
import type { Receipt } from "../../../src/ledger/records.ts";
import { type PricedModel, pricedModels, readModel, writtenKeys } from "../../gateway/price-cases.ts";
import {
  API_KEY as BEDROCK_KEY,
  REGION,
  type ScriptedBedrock,
  startScriptedBedrock,
} from "../../support/bedrock/scripted-bedrock.ts";
import { API_KEY, type ScriptedGoogle, startScriptedGoogle } from "../../support/scripted-google.ts";
import { scriptedUpstream } from "../../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.ts";
import {
  converseScriptOf,
  googleScriptOf,
  type Reported,
  scriptOf,
  UPSTREAMS,
  type UpstreamKind,
} from "./answers.ts";
import { requestOf, TIER_REQUESTS } from "./clients.ts";
import {
  type Asked,
  dropsTools,
  expectedOf,
  extrasOf,
  isSold,
  MARKUPS,
  PROMPT_BYTES_MAX,
  type Request,
  requests,
} from "./expected.ts";

/** Requests to one model. */
const REQUESTS_PER_MODEL = 10;
const LANES = 8;
const TOP_UP = "500000000";

const models = fc.record({
  priced: pricedModels({ aboveMax: PROMPT_BYTES_MAX / 2, routesMax: 2 }),
  kinds: fc.array(fc.constantFrom(...UPSTREAMS), { minLength: 2, maxLength: 2 }),
  isAlike: fc.boolean(),
});
/** A model of the gateway, with what its file says. */
interface TestedModel {
  readonly id: string;
  readonly model: Model;
  readonly priced: PricedModel;
  readonly kinds: readonly UpstreamKind[];
}

interface Env {
  readonly gateway: TestGateway;
  readonly google: ScriptedGoogle;
  readonly bedrock: ScriptedBedrock;
  readonly payers: readonly { readonly accountId: string; readonly secret: string }[];
}

/** The result of a run. */
export interface MoneyResult {
  /** What differed from the oracles, each with its request. */
  readonly problems: readonly string[];
  readonly charged: number;
  readonly refused: number;
  /** Charged requests by form, upstream and tier, and those with calls, audio and images. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Sends so many requests through a gateway, and compares each receipt with the oracles to the nano. */
export async function runMoney({ seed, count }: { seed: number; count: number }): Promise<MoneyResult> {
  const tested = drawModels(seed, Math.ceil(count / REQUESTS_PER_MODEL));
  const drawn = fc.sample(requests, { seed, numRuns: count });
  const env = await startEnv(tested.map(({ model }) => model));
  const tally = { problems: [] as string[], charged: 0, refused: 0, counts: new Map<string, number>() };
  const spent = MARKUPS.map(() => 0n);
  const lane = async (first: number) => {
    for (let index = first; index < tested.length; index += LANES) {
      const model = tested[index];
      if (!model) return;
      for (
        let at = index * REQUESTS_PER_MODEL;
        at < Math.min((index + 1) * REQUESTS_PER_MODEL, count);
        at += 1
      ) {
        const request = drawn[at];
        if (!request) return;
        const result = await play(env, model, request);
        if (result.problem) tally.problems.push(`request ${at} of seed ${seed}: ${result.problem}`);
        if (result.charge === undefined) tally.refused += 1;
        else tally.charged += 1;
        spent[request.payer] = (spent[request.payer] ?? 0n) + (result.charge ?? 0n);
        for (const name of result.names) tally.counts.set(name, (tally.counts.get(name) ?? 0) + 1);
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
  for (const [index, { accountId }] of env.payers.entries()) {
    const { posted, held } = await env.gateway.balances(accountId);
    if (held !== 0n || posted !== parseUsd(TOP_UP) - (spent[index] ?? 0n))
      tally.problems.push(`account ${index} has ${posted} posted and ${held} held`);
  }
  await stop(env);
  return tally;
}

function drawModels(seed: number, count: number): readonly TestedModel[] {
  const tested: TestedModel[] = [];
  // The rules refuse some of the files.
  for (const { priced, kinds, isAlike } of fc.sample(models, { seed, numRuns: count * 4 })) {
    if (tested.length === count) break;
    const id = `m${tested.length}`;
    const own = priced.routes.map((_, index) => kinds[isAlike ? 0 : index] ?? UPSTREAMS[0]);
    const named = own.filter((kind) => kind !== undefined);
    const places = named.map(({ name }, index) => ({ upstream: name, model: `${id}-${index}` }));
    const model = readModel(priced, places, id);
    if (model) tested.push({ id, model, priced, kinds: named });
  }
  return tested;
}

async function startEnv(list: readonly Model[]): Promise<Env> {
  const google = startScriptedGoogle();
  const bedrock = await startScriptedBedrock();
  const settings = { region: REGION, profile: undefined, api: "converse" as const };
  const gateway = await startTestGateway({
    models: list,
    upstreams: ({ openaiUrl, anthropicUrl }) => [
      scriptedUpstream("openai", "openai", { baseUrl: openaiUrl }),
      scriptedUpstream("native", "openai", { baseUrl: openaiUrl, hasResponses: true }),
      scriptedUpstream("anthropic", "anthropic", { baseUrl: anthropicUrl }),
      scriptedUpstream("gemini", "gemini", { baseUrl: `${google.url}/v1beta`, apiKey: API_KEY }),
      scriptedUpstream("converse", "bedrock", {
        baseUrl: bedrock.url,
        apiKey: BEDROCK_KEY,
        bedrock: settings,
      }),
    ],
  });
  const { database } = gateway.tollgate;
  const payers: Env["payers"][number][] = [];
  for (const markup of MARKUPS) {
    const { key, secret } = await gateway.newPayer(TOP_UP);
    if (markup !== undefined) {
      const change = { accountId: key.accountId, markup: parseMarkup(markup), reason: "test" };
      await setMarkup({ database, now: () => Date.now() }, COMMAND_LINE, change);
    }
    payers.push({ accountId: key.accountId, secret });
  }
  return { gateway, google, bedrock, payers };
}

async function stop({ gateway, google, bedrock }: Env): Promise<void> {
  await gateway.stop();
  await google.stop();
  await bedrock.stop();
}

interface Played {
  readonly problem?: string;
  /** `undefined` for a request that is refused. */
  readonly charge?: bigint;
  readonly names: readonly string[];
}

async function play(env: Env, tested: TestedModel, request: Request): Promise<Played> {
  const { client, stream, promptBytes } = request;
  const tiers = TIER_REQUESTS[client];
  const tier = tiers[request.tier % tiers.length] ?? { body: {}, asked: undefined };
  const extras = extrasOf(request, tested.kinds);
  const asked: Asked = { tier, extras, markup: MARKUPS[request.payer], isChat: client === "chat" };
  const sold = tested.kinds.map((kind, at) => isSold(writtenKeys(tested.priced, at), asked, kind));
  // A route that keeps every tool is preferred.
  const whole = sold.findIndex((is, at) => is && !dropsTools(writtenKeys(tested.priced, at), asked));
  const index = whole >= 0 ? whole : sold.indexOf(true);
  const kind = tested.kinds[index];
  const expected = kind && expectedOf(tested.priced, { index, kind, asked, request });
  if (expected) setScript(env, `${tested.id}-${index}`, expected.reported);
  const prompt = "a".repeat(promptBytes);
  const { path, body } = requestOf(client, tested.id, { prompt, stream, tier: tier.body, extras });
  const payer = env.payers[request.payer];
  const response = await fetch(`${env.gateway.url}${path}`, {
    method: "POST",
    headers: { "x-goog-api-key": payer?.secret ?? "", "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const story = () =>
    JSON.stringify(
      {
        text: text.slice(0, 300),
        complaints: [env.google.refused.at(-1), env.bedrock.complaints.at(-1)],
        asked,
        expected,
        request,
        model: { ...tested, model: undefined, kinds: tested.kinds.map(({ name }) => name) },
      },
      printBigint,
    );
  if (!expected) {
    const isRefused = (response.status === 400 || response.status === 422) && text.includes("no price here");
    return {
      names: ["refused"],
      ...(!isRefused && { problem: `not refused: ${response.status} ${story()}` }),
    };
  }
  if (response.status !== 200) return { names: [], problem: `status ${response.status} ${story()}` };
  const receipt = await env.gateway.receiptOf(response, payer?.accountId);
  const problem = findDifference(receipt, expected);
  const names = [`${client} to ${kind.name}`, `tier ${expected.tier ?? "standard"}`, ...expected.names];
  return { charge: receipt.captured, names, ...(problem && { problem: `${problem} ${story()}` }) };
}

function printBigint(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

function setScript({ gateway, google, bedrock }: Env, model: string, reported: Reported): void {
  gateway.upstream.on(model, scriptOf(reported));
  google.on(model, googleScriptOf(reported));
  bedrock.on(model, converseScriptOf(reported));
}

function findDifference(receipt: Receipt, expected: ReturnType<typeof expectedOf>): string | undefined {
  const { captured, granted, outcome } = receipt;
  if (captured !== expected.charge) return `charged ${captured}, not ${expected.charge}:`;
  if (outcome?.tier !== expected.tier) return `of tier ${outcome?.tier}, not ${expected.tier}:`;
  if (outcome?.upstreamCost !== expected.upstreamCost)
    return `upstream cost ${outcome?.upstreamCost}, not ${expected.upstreamCost}:`;
  if (outcome?.source !== expected.source) return `source ${outcome?.source}, not ${expected.source}:`;
  return granted < captured ? `held ${granted}, below the charge ${captured}:` : undefined;
}
