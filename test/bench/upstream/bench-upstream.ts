import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Contestants, checkMoney, startContestants } from "../contestants.ts";
import { failoverConfig, measureFailoverLatency, measureFailoverRates } from "./failover.ts";
import { measureClientBursts, measureClientCells } from "./measure-clients.ts";
import { measureCap, measureFirstEvent } from "./measure-gateway.ts";
import { readUpstreamPlan, type UpstreamPlan } from "./plan.ts";
import { printUpstreamReport, type UpstreamReport } from "./report.ts";
import { startWireUpstream, type WireUpstream } from "./wire-upstream.ts";

/**
 * `bun run bench upstream [--quick] [--json]`: compares HTTP clients for the gateway's calls, and measures
 * the added time to the first event and the cost of a failover.
 */
export async function benchUpstream(args: readonly string[]): Promise<void> {
  const plan = readUpstreamPlan(args);
  const upstream = await startWireUpstream();
  try {
    console.error("measuring, for some minutes unless --quick");
    const report = { ...(await measureClients(upstream, plan)), ...(await measureGateway(upstream, plan)) };
    console.log(plan.printsJson ? JSON.stringify(report) : printUpstreamReport(report));
    process.exitCode = report.money.isRight ? 0 : 1;
  } finally {
    await upstream.stop();
  }
}

async function measureClients(
  upstream: WireUpstream,
  plan: UpstreamPlan,
): Promise<Pick<UpstreamReport, "clients" | "bursts">> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-bench-"));
  const authorityFile = join(folder, "authority.pem");
  try {
    await Bun.write(authorityFile, upstream.authority);
    const targets = { upstream, authorityFile };
    const clients = await measureClientCells(targets, plan);
    return { clients, bursts: await measureClientBursts(targets, plan) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function measureGateway(
  upstream: WireUpstream,
  plan: UpstreamPlan,
): Promise<Omit<UpstreamReport, "clients" | "bursts">> {
  const contestants: Contestants = await startContestants(failoverConfig(upstream.plainUrl));
  try {
    return {
      cap: await measureCap(contestants),
      firstEvent: await measureFirstEvent(contestants, plan),
      failoverLatency: await measureFailoverLatency(contestants.gateway, upstream, plan),
      failoverRates: await measureFailoverRates(contestants.gateway, upstream, plan),
      money: await checkMoney(contestants),
    };
  } finally {
    await contestants.stop();
  }
}
