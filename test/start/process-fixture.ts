import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runTollgate } from "../cli/run-tollgate.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { type ServedProcess, type ServeOptions, startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { scriptedConfig } from "../support/test-catalog.ts";
import { createPaidKey } from "./paid-key.ts";

/** A scripted upstream, and a folder with a tollgate.yaml for it and an account with 100 USD. */
export interface ProcessFixture {
  readonly upstream: ScriptedUpstream;
  readonly folder: string;
  /** The secret of a key of the account. */
  readonly secret: string;
  /** Starts the gateway in a process of its own. */
  serve(options?: Partial<ServeOptions>): Promise<ServedProcess>;
  /** Replaces the settings in tollgate.yaml. */
  configure(settings: string): void;
  /** Returns the accounts that `tollgate account list` prints. */
  accounts(): Promise<unknown>;
  /** Kills the gateways and stops the upstream. */
  close(): Promise<void>;
}

/** Creates a fixture. `settings` is YAML for the end of tollgate.yaml. */
export async function openProcessFixture(settings: string): Promise<ProcessFixture> {
  const upstream = await startScriptedUpstream();
  const folder = tempFolder();
  const served: ServedProcess[] = [];
  const configure = (yaml: string) =>
    writeFileSync(join(folder, "tollgate.yaml"), scriptedConfig(upstream, yaml));
  configure(settings);
  return {
    upstream,
    folder,
    secret: await createPaidKey(folder),
    async serve(options = {}) {
      const gateway = await startServedProcess({ folder, ...options });
      served.push(gateway);
      return gateway;
    },
    configure,
    accounts: async () => (await runTollgate(folder, ["account", "list", "--json"])).json().accounts,
    async close() {
      for (const gateway of served) {
        gateway.signal("SIGKILL");
        await gateway.exitCode;
      }
      await upstream.stop();
    },
  };
}
