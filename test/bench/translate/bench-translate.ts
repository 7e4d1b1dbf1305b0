import { printUsd } from "../../../src/domain/money.ts";
import { type Child, startChild } from "../child.ts";
import { COST, modelEntry, type Offer, startGateway, TOP_UP } from "../gateway.ts";
import { startJobProcess } from "../job-process.ts";
import type { Format } from "./asks.ts";
import type { TranslateLoad } from "./load-process.ts";
import { CELLS, readTranslatePlan, type TranslatePlan } from "./plan.ts";
import { measurePure } from "./reading-and-printing.ts";
import { printTranslateReport, type TranslateReport } from "./report.ts";
import { type Driven, measureThroughput, modelOf } from "./throughput.ts";

/**
 * `bun run bench translate [--quick] [--json]`: what it costs when client and upstream speak different formats,
 * beside the same client with an upstream of its own.
 */
export async function benchTranslate(args: readonly string[]): Promise<void> {
  const plan = readTranslatePlan(args);
  console.error("measuring, for some minutes unless --quick");
  const pure = measurePure(plan);
  const upstream = await startChild("translate/upstream-process.ts");
  const report = { pure, ...(await measureGateway(upstream, plan).finally(upstream.stop)) };
  console.log(plan.printsJson ? JSON.stringify(report) : printTranslateReport(report));
  process.exitCode = report.money.isRight ? 0 : 1;
}

async function measureGateway(upstream: Child, plan: TranslatePlan): Promise<Omit<TranslateReport, "pure">> {
  const gateway = await startGateway(upstream.url, {}, offerOf(upstream));
  const load = startJobProcess<TranslateLoad>("translate/load-process.ts");
  try {
    const { cells, answers } = await measureThroughput({ gateway, load }, CELLS, plan);
    return { cells, money: await checkMoney({ gateway, load }, answers) };
  } finally {
    await Promise.all([load.stop(), gateway.remove()]);
  }
}

async function checkMoney({ gateway }: Driven, requests: number): Promise<TranslateReport["money"]> {
  await gateway.stop();
  const { posted, held } = await gateway.wallet();
  const expected = BigInt(requests) * COST;
  return {
    requests,
    chargedUsd: printUsd(TOP_UP - posted),
    expectedUsd: printUsd(expected),
    isRight: TOP_UP - posted === expected && held === 0n,
  };
}

/** One upstream for each format. */
function offerOf({ url }: Child): Offer {
  const openai = { protocol: "openai", base_url: `${url}/v1`, api_key: "bench" };
  const upstreams: Readonly<Record<Format, object>> = {
    chat: openai,
    responses: { ...openai, responses: true },
    messages: { protocol: "anthropic", base_url: url, api_key: "bench" },
  };
  const names = Object.keys(upstreams);
  return {
    upstreams: Object.fromEntries(Object.entries(upstreams).map(([name, entry]) => [modelOf(name), entry])),
    models: Object.fromEntries(
      names.map((name) => [modelOf(name), modelEntry([{ upstream: modelOf(name), model: "host-model" }])]),
    ),
  };
}
