import type { Client } from "../../clients/client.ts";
import { printSnippets } from "../../clients/clients.ts";
import { loadClientAccess } from "../../config/client-access.ts";
import { loadConfig } from "../../config/config.ts";
import type { SettingsFiles } from "../../config/env-file.ts";
import { ConfigError } from "../../config/problems.ts";
import type { Model } from "../../domain/model.ts";
import { printUsd } from "../../domain/money.ts";
import type { FirstAccount } from "../../setup/first-account.ts";
import type { WrittenSetup } from "../../setup/write-setup.ts";
import type { CommandResult } from "../command.ts";
import { originOf } from "../health.ts";
import type { PlannedSetup } from "./providers.ts";

export interface Initialised {
  readonly files: SettingsFiles;
  readonly setup: PlannedSetup;
  readonly written: WrittenSetup;
  readonly created: FirstAccount;
  readonly secret: string;
  readonly client: Client;
  readonly url: string | undefined;
}

/** Reports what was added, and the lines to paste for the client. Problems that a start would have fail the command. */
export async function reportInit(done: Initialised): Promise<CommandResult> {
  const { files, setup, written, created, secret, client } = done;
  const { models, problems } = readModels();
  const access = loadClientAccess();
  const url = done.url ?? access.publicUrl ?? originOf(access.address);
  const code = printCode(client, { url, secret }, chatModels(models, setup));
  const { account, key, credited, operator } = created;
  const { upstreams, models: added, variables } = written;
  const json = {
    ...{ upstreams, models: added, variables },
    file: files.configPath,
    env_file: files.envPath,
    account: { id: account.id, name: account.name, credited_usd: printUsd(credited) },
    key: { id: key.id, hint: key.hint, is_new: created.isNewKey },
    operator: operator ? { email: operator.person.email, one_time_password: operator.oneTimePassword } : null,
    warnings: setup.warnings,
    problems,
    client: { id: client.id, code: code ?? null },
  };
  const lines = [
    ...describeFiles(done),
    ...describeAccount(created),
    ...(operator
      ? [
          `Console   ${url}/console, as ${operator.person.email}`,
          `Password  ${operator.oneTimePassword}   (once, shown only now; an earlier one is void)`,
        ]
      : []),
    ...setup.warnings.map((warning) => `Warning   ${warning}`),
    ...problems.map((problem) => `Problem   ${problem}`),
    "",
    `Start the gateway, unless it runs: ${Bun.isStandaloneExecutable ? "tollgate serve" : "bun start"}`,
    ...(code === undefined ? [] : ["", `# ${client.title}: ${client.note}`, code]),
  ];
  return { json, text: lines.join("\n"), failed: problems.length > 0 };
}

/** Reads the models as a start would. */
export function readModels(): {
  readonly models: readonly Model[];
  readonly problems: readonly string[];
} {
  try {
    return { models: loadConfig().models, problems: [] };
  } catch (error) {
    if (error instanceof ConfigError) return { models: [], problems: error.problems };
    throw error;
  }
}

/** Returns the models that answer chats, those of this run first. */
function chatModels(models: readonly Model[], { upstreams }: PlannedSetup): readonly Model[] {
  const ids = new Set(upstreams.flatMap((each) => each.models.map(({ id }) => id)));
  const chat = models.filter(({ outputTokensMax }) => outputTokensMax > 0);
  const isOwn = (model: Model) => model.routes.some(({ known }) => known !== undefined && ids.has(known));
  return [...chat.filter(isOwn), ...chat.filter((model) => !isOwn(model))];
}

function printCode(
  client: Client,
  place: { readonly url: string; readonly secret: string },
  [first, ...others]: readonly Model[],
): string | undefined {
  if (!first) return undefined;
  return printSnippets({ ...place, models: [first, ...others] }, [client])[0]?.code;
}

function describeFiles({ files, written }: Initialised): readonly string[] {
  const { upstreams, models, variables } = written;
  const added = [
    ...(upstreams.length > 0 ? [`the upstream ${upstreams.join(", ")}`] : []),
    ...(models.length > 0 ? [`the ${models.length === 1 ? "model" : "models"} ${models.join(", ")}`] : []),
  ];
  return [
    `Settings  ${files.configPath}: ${describeAddition(added, " and ")}`,
    `Secrets   ${files.envPath}: ${describeAddition(variables)}`,
  ];
}

export function describeAddition(added: readonly string[], separator = ", "): string {
  return added.length > 0 ? `added ${added.join(separator)}` : "has all of this already";
}

function describeAccount({ account, key, isNewKey, credited }: FirstAccount): readonly string[] {
  const credit = credited > 0n ? `credited with ${printUsd(credited)} USD` : "credited before";
  return [
    `Account   ${account.name}: ${credit}`,
    `Key       ${key.hint}…: ${isNewKey ? "new" : "as before, also its limits"}, its secret is TOLLGATE_KEY in .env`,
  ];
}
