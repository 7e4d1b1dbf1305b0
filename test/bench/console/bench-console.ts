import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SignedIn, signIn } from "../../browser/world/signed-in.ts";
import { runTollgate } from "../../cli/run-tollgate.ts";
import { startServedProcess } from "../../support/served-process.ts";
import { medianOf } from "../measurements.ts";
import { cpuUs } from "../process-stats.ts";
import { BIG_WALLET, type Fill, RARE_KEY } from "../usage/fill-usage.ts";
import { type Filled, fillPostgres, fillSqlite } from "./fill-console.ts";

const HOUR_MS = 3_600_000;
const DAYS = 90;
const OPERATOR = "ops@example.com";
const PASSWORD = "correct horse battery";
const TIMES = 5;
const BOUND_MS = 300;

/**
 * `bun run bench console [--receipts N] [--store sqlite|postgres]`: times each list of the console and its second page
 * through HTTP, with 300 keys, 5,000 accounts and people, and by default 2,000,000 receipts, beside the CPU time of the
 * gateway. Ends with 1 when a median or a first call is above 300 ms.
 */
export async function benchConsole(args: readonly string[]): Promise<void> {
  const option = (name: string) => args[args.indexOf(name) + 1];
  const count = args.includes("--receipts") ? Number(option("--receipts")) : 2_000_000;
  const stores = args.includes("--store") ? [option("--store")] : ["sqlite", "postgres"];
  const fill: Fill = { count, days: DAYS, endMs: Math.floor(Date.now() / HOUR_MS) * HOUR_MS };
  for (const store of stores) {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-console-"));
    mkdirSync(join(folder, "data"));
    const beganAtMs = performance.now();
    const filled = store === "postgres" ? await fillPostgres(fill) : await fillSqlite(folder, fill);
    try {
      const filledS = ((performance.now() - beganAtMs) / 1_000).toFixed(0);
      console.log(`\n${store}, ${count.toLocaleString("en")} receipts, filled in ${filledS} s`);
      await measureServed(folder, filled.environment);
    } finally {
      await filled.end();
      rmSync(folder, { recursive: true });
    }
  }
}

async function measureServed(folder: string, environment: Filled["environment"]): Promise<void> {
  const command = ["operator", "create", "--email", OPERATOR, "--json"];
  const created = await runTollgate(folder, command, environment);
  const served = await startServedProcess({ folder, environment });
  try {
    const password = String(created.json().one_time_password);
    const operator = await signIn(served.url, { email: OPERATOR, password, newPassword: PASSWORD });
    await operator.call("POST", `/operator/accounts/${BIG_WALLET}/act`, { reason: "measuring" });
    for (const path of PATHS) await measureList({ operator, pid: served.pid }, path);
  } finally {
    served.signal("SIGTERM");
    await served.exitCode;
  }
}

const IN = `/accounts/${BIG_WALLET}`;
const at = (days: number) => new Date(Date.now() - days * 24 * HOUR_MS).toISOString();
const PATHS = [
  "/operator/accounts",
  "/operator/accounts?sort=name",
  "/operator/accounts?sort=-available",
  "/operator/accounts?sort=-spent",
  "/operator/accounts?sort=-requests",
  "/operator/accounts?q=account%204999",
  "/operator/accounts?q=none%20has%20this",
  "/operator/accounts?q=account&sort=-spent",
  "/operator/accounts-at-risk",
  "/operator/people",
  "/operator/people?sort=-name",
  "/operator/people?q=person%2049",
  "/operator/people?q=none%20has%20this&sort=name",
  "/operator/codes",
  "/operator/codes?sort=-amount",
  "/operator/codes?sort=expires",
  "/operator/codes?sort=-redeemed",
  "/operator/codes?q=account%2049",
  "/operator/codes?q=none%20has%20this",
  "/operator/codes?q=event&sort=-amount",
  "/operator/codes?state=expired",
  "/operator/subscriptions?live=true",
  "/operator/subscriptions?sort=account",
  "/operator/subscriptions?sort=-plan",
  "/operator/subscriptions?sort=next",
  "/operator/subscriptions?q=account%2049",
  "/operator/figures",
  "/operator/audit-trail",
  "/operator/audit-trail?actor=person%207",
  "/operator/audit-trail?actor=none%20has%20this",
  "/operator/audit-trail?action=member",
  "/operator/audit-trail?action=wallet",
  `/operator/audit-trail?from=${at(40)}&to=${at(39)}`,
  "/operator/now",
  "/operator/health",
  `/operator/usage?from=${at(30)}`,
  `/operator/usage?from=${at(89)}&group=account`,
  "/find?q=account%2049",
  "/find?q=none%20has%20this",
  IN,
  `${IN}/keys?size=50`,
  `${IN}/keys?size=50&sort=name`,
  `${IN}/keys?size=50&sort=-spent`,
  `${IN}/keys?size=50&sort=-used`,
  `${IN}/keys?size=50&q=key%2029`,
  `${IN}/key-names`,
  `${IN}/requests`,
  `${IN}/requests?size=100`,
  `${IN}/requests?sort=-charged`,
  `${IN}/requests?sort=-charged&from=${at(40)}&to=${at(10)}`,
  `${IN}/requests?sort=-duration&model=model-3`,
  `${IN}/requests?sort=-duration&model=model-3&outcome=upstream_timeout`,
  `${IN}/requests?sort=-charged&outcome=none`,
  `${IN}/requests?sort=-charged&key=${RARE_KEY}`,
  `${IN}/requests?sort=-charged&surface=chat`,
  `${IN}/requests?sort=-charged&metadata=team:t3`,
  `${IN}/requests?sort=-charged&metadata=team:none`,
  `${IN}/requests?key=key-3`,
  `${IN}/requests?key=${RARE_KEY}`,
  `${IN}/requests?model=model-3&outcome=upstream_timeout`,
  `${IN}/requests?model=model-3&outcome=upstream_timeout&size=100`,
  `${IN}/requests?state=expired`,
  `${IN}/requests?state=held`,
  `${IN}/requests?surface=none`,
  `${IN}/requests?metadata=team:t3`,
  `${IN}/requests?metadata=team:none`,
  `${IN}/requests?scope=end_user:none`,
  `${IN}/requests?from=${at(40)}&to=${at(39)}`,
  `${IN}/refusals`,
  `${IN}/refusals?code=rate_limit_exceeded`,
  `${IN}/refusals?code=forbidden`,
  `${IN}/refusals?key=none`,
  `${IN}/wallet`,
  `${IN}/wallet/transfers`,
  `${IN}/wallet/transfers?kind=top_up`,
  `${IN}/wallet/transfers?kind=charge`,
  `${IN}/wallet/transfers?kind=settlement&from=${at(60)}&to=${at(59)}`,
  `${IN}/wallet/proof`,
  `${IN}/usage?from=${at(30)}&group=model&by=day`,
  `${IN}/usage?from=${at(89)}&group=key&by=day`,
  `${IN}/usage/anomalies`,
  `${IN}/wallet/credits`,
  `${IN}/wallet/credits?sort=-left`,
  `${IN}/wallet/credits?q=top-4`,
  `${IN}/notices`,
  `${IN}/notices?of=account`,
  `${IN}/notices?q=none%20has%20this`,
  `${IN}/notices?state=unread`,
  `${IN}/notices?state=crossed`,
  `${IN}/audit-trail`,
  `${IN}/audit-trail?actor=none%20has%20this`,
  `${IN}/audit-trail?action=wallet`,
] as const;

interface Measured {
  readonly operator: SignedIn;
  readonly pid: number;
}

/** Times a list, and the page that follows its first one. */
async function measureList(measured: Measured, path: string): Promise<void> {
  const next = await measure(measured, path);
  if (next === undefined) return;
  const page = `page=${encodeURIComponent(next)}`;
  await measure(measured, `${path}${path.includes("?") ? "&" : "?"}${page}`, `${path} (page 2)`);
}

/** Times a path. Returns the token of the page after it. */
async function measure({ operator, pid }: Measured, path: string, name = path): Promise<string | undefined> {
  const took: number[] = [];
  let next: string | undefined;
  const cpuBeforeUs = cpuUs(pid);
  for (let turn = 0; turn < TIMES; turn++) {
    const beganAtMs = performance.now();
    const answer = await operator.call("GET", path);
    took.push(performance.now() - beganAtMs);
    next = answer.next ?? undefined;
  }
  const cpuMs = (cpuUs(pid) - cpuBeforeUs) / TIMES / 1_000;
  const [first = 0] = took;
  const median = medianOf(took);
  const isAbove = Math.max(median, first) > BOUND_MS;
  if (isAbove) process.exitCode = 1;
  const cells = [`${printMs(median)}`, `first ${printMs(first)}`, `CPU ${printMs(cpuMs)}`];
  console.log(`${cells.join("  ")}  ${name}${isAbove ? "  ABOVE 300 ms" : ""}`);
  return next;
}

function printMs(ms: number): string {
  return `${ms.toFixed(0).padStart(5)} ms`;
}
