import { dirname } from "node:path";
import { type Config, loadConfig } from "../../config/config.ts";
import { ConfigError } from "../../config/config-error.ts";
import { describeLocation } from "../../db/location.ts";
import { describeRedis } from "../../limiter/redis/location.ts";
import { findFolderFault } from "../check-folder.ts";
import type { Outcome } from "../command.ts";
import { findDatabaseFault } from "./database.ts";
import { findLedgerFault } from "./ledger.ts";
import { findRedisFault } from "./redis.ts";
import { findUpstreamFault } from "./upstream.ts";

/** Checks the configuration, the database, ledger, Redis and every upstream. Starts, creates and changes nothing. */
export async function runCheck(): Promise<Outcome> {
  try {
    const config = loadConfig();
    return report(await findFaults(config), config);
  } catch (thrown) {
    if (thrown instanceof ConfigError) return report(thrown.problems, undefined);
    throw thrown;
  }
}

async function findFaults(config: Config): Promise<readonly string[]> {
  const faults = await Promise.all([
    findDatabaseFault(config.database),
    findDataFault(config),
    findLedgerFault(config.ledger),
    findRedisFault(config.limiter.redis),
    ...config.upstreams.map((upstream) => findUpstreamFault(upstream)),
  ]);
  return faults.filter((fault) => fault !== undefined);
}

/** The folder of a SQLite file is looked at with the file. */
function findDataFault({ database, dataFolder }: Config): string | undefined {
  if (database.dialect === "sqlite" && dirname(database.path) === dataFolder) return undefined;
  const fault = findFolderFault(dataFolder);
  return fault && `TOLLGATE_DATA: ${fault}`;
}

function report(problems: readonly string[], config: Config | undefined): Outcome {
  const json = {
    ok: problems.length === 0,
    problems,
    database: config ? describeLocation(config.database) : null,
    ledger: config?.ledger.remote?.address ?? null,
    redis: config?.limiter.redis ? describeRedis(config.limiter.redis) : null,
    models: config?.models.map(({ id }) => id) ?? [],
    upstreams: config?.upstreams.map(({ name }) => name) ?? [],
  };
  if (problems.length > 0) return { json, text: problems.join("\n"), failed: true };
  const text = `All is well: ${json.models.length} models, ${json.upstreams.length} upstreams, database ${json.database}.`;
  return { json, text: json.redis === null ? text : `${text} Limits are counted in Redis: ${json.redis}.` };
}
