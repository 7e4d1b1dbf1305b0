import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HOLD_TTL_S } from "./cluster.ts";
import { type Program, type ProgramOptions, runCommand } from "./program.ts";

export const TOKEN = "a-token-of-the-crash-suite";
const WELCOME_MS = 5_000;
const FUNDS_USD = "100000.00";

const CONFIGURATION = `
billing: { hold_ttl_s: ${HOLD_TTL_S} }
limits: { requests_per_minute: 1000000, tokens_per_minute: 1000000000 }
account_limits: { requests_per_minute: 1000000 }
`;

/** Creates a folder with a configuration of short-lived holds and very high limits. */
export function createClusterFolder(): { readonly folder: string; readonly configuration: string } {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-crash-"));
  const configuration = join(folder, "tollgate.yaml");
  writeFileSync(configuration, CONFIGURATION);
  return { folder, configuration };
}

export async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`).catch(() => undefined);
  return response?.ok ?? false;
}

/** Returns the key that the first start of the gateway prints. Throws after 5 s. */
export async function secretOf(gateway: Program): Promise<string> {
  const deadline = performance.now() + WELCOME_MS;
  while (performance.now() < deadline) {
    const secret = /(sk-tg-\S+)/.exec(gateway.output())?.[1];
    if (secret) return secret;
    await Bun.sleep(20);
  }
  throw new Error(`The first start printed no key: ${gateway.output()}`);
}

/** Tops up the demo account for all rounds. Returns its wallet id. */
export async function fundDemo(place: Pick<ProgramOptions, "folder" | "environment">): Promise<string> {
  const topUp = ["topup", "--account", "demo", "--amount", FUNDS_USD, "--id", "crash"];
  await runCommand(topUp, place);
  const { accounts } = JSON.parse(await runCommand(["account", "list", "--json"], place));
  return accounts[0].id;
}
