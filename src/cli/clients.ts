import type { ClientFacts, ClientModel, Snippet } from "../clients/client.ts";
import { CLIENTS, printSnippets } from "../clients/clients.ts";
import { loadClientAccess } from "../config/client-access.ts";
import { loadConfig } from "../config/config.ts";
import { CommandError, type CommandResult } from "./command.ts";
import { originOf } from "./health.ts";
import { readServedModels } from "./served-models.ts";

const SECRET_LENGTH_MAX = 200;

export interface ClientsOptions {
  /** Origin of the gateway. Default: `PUBLIC_URL`, or `HOST` and `PORT` on this machine. */
  readonly url?: string;
  /** Model of settings that name one model. */
  readonly model?: string;
  /** Whether the secret of the key is read from standard input. */
  readonly keyStdin?: boolean;
}

/**
 * Prints settings of clients. Models are those that a running gateway lists for the key; without a key, those of the
 * configuration file. The secret itself is never printed: settings refer to `TOLLGATE_KEY`.
 */
export async function runClients(
  name: string | undefined,
  { url, model, keyStdin = false }: ClientsOptions,
): Promise<CommandResult> {
  const clients = name === undefined ? CLIENTS : CLIENTS.filter(({ id }) => id === name);
  if (clients.length === 0) {
    throw new CommandError(`The clients are ${CLIENTS.map(({ id }) => id).join(", ")}.`, 2);
  }
  const access = loadClientAccess();
  const origin = url ?? access.publicUrl ?? originOf(access.address);
  const key = keyStdin ? await readSecret() : access.key;
  const listed = key === undefined ? readConfiguredModels() : await readServedModels(origin, key);
  const models = orderModels(listed, model);
  const snippets = printSnippets({ url: origin, models }, clients);
  return {
    json: { url: origin, models: models.map(({ id }) => id), clients: snippets },
    text: snippets.map(printSnippet).join("\n\n"),
  };
}

function printSnippet({ id, title, note, code }: Snippet): string {
  return `# ${title} (${id})\n# ${note}\n${code}`;
}

async function readSecret(): Promise<string> {
  const secret = (await Bun.stdin.text()).trim();
  if (secret === "" || secret.length > SECRET_LENGTH_MAX || /\s/.test(secret)) {
    throw new CommandError("Standard input holds no secret of a key.", 2);
  }
  return secret;
}

function readConfiguredModels(): readonly ClientModel[] {
  return loadConfig().models.filter(({ outputTokensMax }) => outputTokensMax > 0);
}

/** Puts the wanted model first. Throws without a model that answers chats. */
function orderModels(listed: readonly ClientModel[], wanted: string | undefined): ClientFacts["models"] {
  const isWanted = ({ id }: ClientModel) => wanted === undefined || id === wanted;
  const first = listed.find(isWanted);
  if (!first) {
    const which = wanted === undefined ? "no model that answers chats" : `no model ${wanted}`;
    throw new CommandError(`The key has ${which}.`);
  }
  return [first, ...listed.filter((model) => model !== first)];
}
