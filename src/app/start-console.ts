import type { Config, LiveConfig } from "../config/config.ts";
import { findConsoleWarnings } from "../config/console.ts";
import type { Database } from "../db/database.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { ConsoleParts, ConsoleSettings } from "../http/console/console-parts.ts";
import type { ConsoleEntry } from "../http/console/entry.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Log } from "../telemetry/log.ts";

interface Foundation {
  readonly database: Database;
  readonly ledger: Ledger;
  gateway(): Gateway;
  /** The latest configuration. */
  config(): LiveConfig;
  /** Origin of the listening server. */
  url(): string;
  readonly log: Log;
}

/** The console of a gateway. */
export interface RunningConsole {
  /** Answers requests below `/console`. Its code is loaded at the first one: few processes ever show it. */
  readonly entry: ConsoleEntry;
  readonly parts: ConsoleParts;
  /** Stops the background work of the console. */
  close(): Promise<void>;
}

/** Starts the background work of the console. */
export function startConsole(config: Config, foundation: Foundation): RunningConsole {
  const parts = createParts(config, foundation);
  for (const warning of findConsoleWarnings(config.console, config)) foundation.log.warn({}, warning);
  let loading: Promise<ConsoleEntry> | undefined;
  const load = async () => (await import("../http/console/entry.ts")).createConsole(parts);
  const entry: ConsoleEntry = async (request, peer) => {
    loading ??= load().catch((error) => {
      // A failed load is tried again at the next request.
      loading = undefined;
      throw error;
    });
    return (await loading)(request, peer);
  };
  return { entry, parts, close: async () => undefined };
}

function createParts(config: Config, foundation: Foundation): ConsoleParts {
  const { database, ledger, gateway, log } = foundation;
  return {
    database,
    ledger,
    gateway,
    log,
    settings: readSettings(config, foundation),
    identify: async () => undefined,
    addressOf: (_request, peer) => peer,
    pages: async () => new Response("The console is not built.\n", { status: 503 }),
    now: Date.now,
  };
}

/** The sign-up follows the configuration file, and the default origin needs the port of the server. */
function readSettings(
  { console }: Config,
  { config, url }: Pick<Foundation, "config" | "url">,
): ConsoleSettings {
  const { publicUrl, trustedProxies, mail, stripe } = console;
  const { secretKey, webhookSecret } = stripe;
  return {
    get publicUrl() {
      return publicUrl ?? url();
    },
    get signUp() {
      return config().signUp ?? "invited";
    },
    trustedProxies,
    mail,
    stripe: secretKey && webhookSecret ? { secretKey, webhookSecret } : undefined,
  };
}
