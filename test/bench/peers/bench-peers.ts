import { checkMoney } from "../contestants.ts";
import { startContestants } from "./contestants.ts";
import { measure } from "./measure.ts";
import { type PeersPlan, readPeersPlan } from "./plan.ts";
import { compareWithAims } from "./rates.ts";
import { type PeersReport, printPeersReport } from "./report.ts";

/**
 * `bun run bench peers [--quick] [--json] [--cache DIR]`: compares Tollgate with other gateways, all with one
 * fast upstream. A peer that cannot be installed, or that answers wrongly, does not fail the run.
 */
export async function benchPeers(args: readonly string[]): Promise<void> {
  const plan = readPeersPlan(args);
  const report = await compare(plan);
  console.log(plan.printsJson ? JSON.stringify(report) : printPeersReport(report));
  process.exitCode = report.money.isRight ? 0 : 1;
}

async function compare(plan: PeersPlan): Promise<PeersReport> {
  const contestants = await startContestants(plan.cache);
  try {
    const measured = await measure(contestants, plan);
    const { tollgate: gatewayProcess } = contestants;
    const money = await checkMoney({ gateway: { answers: measured.tollgateAnswers }, gatewayProcess });
    return { ...measured, aims: compareWithAims(measured.cells), money };
  } finally {
    await contestants.stop();
  }
}
