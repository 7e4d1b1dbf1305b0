// Runs the three flaky upstreams in a child process and obeys the messages of its parent.
import { type FlakyServer, startFlakyServer } from "./flaky-server.ts";
import type { FlakyAnswer, FlakyOrder } from "./flaky-upstreams.ts";
import { type StormConditions, UPSTREAMS, type UpstreamName } from "./plan.ts";

const conditions: StormConditions = JSON.parse(process.argv[2] ?? "");
const started = await Promise.all(
  UPSTREAMS.map(async (name) => [name, await startFlakyServer(conditions, name)] as const),
);
const servers = new Map<UpstreamName, FlakyServer>(started);

process.on("message", (order: FlakyOrder) => void obey(order));
process.on("disconnect", () => process.exit());
sendAnswer({ ports: Object.fromEntries(started.map(([name, { port }]) => [name, port])) });

async function obey(order: FlakyOrder): Promise<void> {
  if ("goDown" in order) servers.get(order.goDown)?.goDown();
  else if ("comeUp" in order) await servers.get(order.comeUp)?.comeUp();
  else if ("count" in order) sendAnswer({ counts: started.map(([, server]) => server.count()) });
  else sendAnswer({ answered: Object.fromEntries(started.map(([name, { answered }]) => [name, answered])) });
}

function sendAnswer(answer: FlakyAnswer): void {
  process.send?.(answer);
}
