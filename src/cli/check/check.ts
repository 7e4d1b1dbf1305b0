import { dirname } from "node:path";
import { openRemoteLedger } from "../../app/storage.ts";
import { type Config, loadConfig } from "../../config/config.ts";
import type { ConsoleConfig } from "../../config/console.ts";
import type { FilledIn } from "../../config/known.ts";
import type { LedgerConfig } from "../../config/ledger.ts";
import { ConfigError, formatPath } from "../../config/problems.ts";
import {
  describeFilled,
  describeKnownWarning,
  describePriceBelowCost,
  describeUnpricedDefault,
  describeUnpricedSearch,
  findKnownWarnings,
  findPricesBelowCost,
  findUnpricedDefaults,
  findUnpricedSearches,
} from "../../config/warnings.ts";
import { describeLocation } from "../../db/location.ts";
import { findMailProblem, type MailProblem } from "../../delivery/mail/server-watch.ts";
import { LedgerLinkError } from "../../ledger-grpc/client/link-error.ts";
import { describeRedis } from "../../limiter/redis/location.ts";
import { probeUpstream } from "../../upstream/http-upstream.ts";
import { keyConfigsOf } from "../../upstream/key-pool.ts";
import { createTransport } from "../../upstream/transports.ts";
import type { UpstreamConfig } from "../../upstream/upstream.ts";
import { type CommandResult, count } from "../command.ts";
import { findDatabaseProblem, findDiskProblem, findFolderProblem } from "./database.ts";
import { findRedisProblem } from "./redis.ts";

/**
 * Checks the configuration and, when it has no problems, database, data folder, ledger, Redis and upstreams.
 * Starts, creates and changes nothing.
 */
export async function runCheck(): Promise<CommandResult> {
  try {
    const config = loadConfig();
    return report(await findProblems(config), config);
  } catch (thrown) {
    if (thrown instanceof ConfigError) return report(thrown.problems, undefined);
    throw thrown;
  }
}

async function findProblems(config: Config): Promise<readonly string[]> {
  const problems = await Promise.all([
    findDatabaseProblem(config.database),
    findDataFolderProblem(config),
    findLedgerProblem(config.ledger),
    findRedisProblem(config.limiter.redis),
    describeMailProblem(config.console.mail),
    ...config.upstreams.flatMap(findKeyProblems),
  ]);
  // A host that does not answer is the same problem for all of its keys.
  return [...new Set(problems.filter((problem) => problem !== undefined))];
}

/** Skips the folder of the SQLite file, which is checked with the file. */
function findDataFolderProblem({ database, dataFolder }: Config): string | undefined {
  if (database.dialect === "sqlite" && dirname(database.path) === dataFolder) return undefined;
  const problem = findFolderProblem(dataFolder) ?? findDiskProblem(dataFolder);
  return problem && `TOLLGATE_DATA: ${problem}`;
}

const LINK_PROBLEMS: Readonly<Partial<Record<string, string>>> = {
  denied: "LEDGER_TOKEN: is rejected, expected the token of that ledger",
  unsupported: "LEDGER_URL: names a server that is not a ledger, expected tollgate.ledger.v1",
};

/** Also for a rejected certificate, which cannot be told apart from an unavailable server. */
const NO_LEDGER_ANSWER =
  "LEDGER_URL: does not answer, expected a ledger that is ready, with or without TLS as in the URL, with certificates that both sides trust";

/**
 * Returns why the remote ledger cannot be used, as "path: what is wrong, expected something else". Returns
 * `undefined` when it can be used, and for a local ledger.
 */
async function findLedgerProblem(config: LedgerConfig): Promise<string | undefined> {
  if (!config.remote) return undefined;
  const ledger = await openRemoteLedger(config.remote, config);
  try {
    await ledger.ping();
    return undefined;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    const problem = cause instanceof LedgerLinkError ? LINK_PROBLEMS[cause.code] : undefined;
    return problem ?? NO_LEDGER_ANSWER;
  } finally {
    await ledger.close();
  }
}

/** Checks an upstream with each of its keys. */
function findKeyProblems(upstream: UpstreamConfig): Promise<string | undefined>[] {
  return keyConfigsOf(upstream).map(({ label, apiKey }) => {
    const place = label === undefined ? "api_key" : `keys.${label}.api_key`;
    return findUpstreamProblem({ ...upstream, apiKey, keys: undefined }, place);
  });
}

/**
 * Returns why an upstream cannot be used, as "path: what is wrong, expected something else", or `undefined`.
 * Reports redirects and rejected keys; accepts any other status, as not every upstream lists its models. The
 * text contains nothing that the upstream sent.
 */
export async function findUpstreamProblem(
  upstream: UpstreamConfig,
  keyPlace = "api_key",
): Promise<string | undefined> {
  const place = `upstreams.${upstream.name}`;
  const status = await probeUpstream(createTransport(upstream));
  if (status === "NO_CREDENTIALS") {
    return `${place}: gets no credentials from its provider, expected an identity of this machine or its variables`;
  }
  if (typeof status === "string") {
    return `${place}.base_url: does not answer (${status}), expected an answer within 5 s`;
  }
  if (status >= 300 && status < 400) {
    return `${place}.base_url: redirects with status ${status}, expected the URL that it leads to`;
  }
  if (status !== 401 && status !== 403) return undefined;
  if (upstream.apiKey === "") {
    return `${place}: has credentials that are rejected with status ${status}, expected ones with access to it`;
  }
  return `${place}.${keyPlace}: is rejected with status ${status}, expected a key that the upstream accepts`;
}

const MAIL_PROBLEMS: Readonly<Record<MailProblem, string>> = {
  login_refused: "has a login that the server refuses",
  no_answer: "does not answer",
};

/** Returns why the mail server cannot be used, or `undefined`. */
async function describeMailProblem(mail: ConsoleConfig["mail"]): Promise<string | undefined> {
  const problem = mail && (await findMailProblem(mail));
  return problem && `SMTP_URL: ${MAIL_PROBLEMS[problem]}, expected a mail server that accepts it`;
}

function report(problems: readonly string[], config: Config | undefined): CommandResult {
  const found = config?.known ?? [];
  const filled = found.filter(({ values }) => Object.keys(values).length > 0);
  const warnings = [
    ...findPricesBelowCost(config?.models ?? []).map(describePriceBelowCost),
    ...findUnpricedSearches(config?.models ?? []).map(describeUnpricedSearch),
    ...findUnpricedDefaults(config?.upstreams ?? [], config?.models ?? []).map(describeUnpricedDefault),
    ...findKnownWarnings(found, Date.now()).map(describeKnownWarning),
  ];
  const json = {
    ok: problems.length === 0,
    problems,
    warnings,
    database: config ? describeLocation(config.database) : null,
    ledger: config?.ledger.remote?.address ?? null,
    redis: config?.limiter.redis ? describeRedis(config.limiter.redis) : null,
    models: config?.models.map(({ id }) => id) ?? [],
    upstreams: config?.upstreams.map(({ name }) => name) ?? [],
    known: filled.map(printFilled),
  };
  const warned = warnings.map((warning) => `warning  ${warning}`);
  const facts = [...filled.map(describeFilled), ...warned];
  if (problems.length > 0) return { json, text: [...problems, ...facts].join("\n"), failed: true };
  const { models, upstreams, database, redis } = json;
  const text = `All is well: ${count(models.length, "model")}, ${count(upstreams.length, "upstream")}, database ${database}.`;
  const limits = redis === null ? "" : ` Limits are counted in Redis: ${redis}.`;
  return { json, text: [text + limits, ...facts].join("\n") };
}

function printFilled({ place, known, values, source, checked, ends }: FilledIn) {
  return { place: formatPath(place), known, values, source, checked, ends: ends ?? null };
}
