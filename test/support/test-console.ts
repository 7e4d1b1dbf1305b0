import { type Account, createAccount } from "../../src/accounts/accounts.ts";
import type { Actor, Role } from "../../src/accounts/audit-trail.ts";
import type { ConsoleParts } from "../../src/http/console/console-parts.ts";
import { createConsole } from "../../src/http/console/entry.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "./test-gateway.ts";

const PUBLIC_URL = "http://console.test";

/** The console's API of a real gateway, called without a network by actors that a test makes. */
export interface TestConsole {
  readonly gateway: TestGateway;
  readonly parts: ConsoleParts;
  newAccount(name?: string): Promise<Account>;
  /** Creates a person with a role in an account. */
  newMember(accountId: string, role: Role): Promise<Actor>;
  newOperator(more?: Partial<Actor>): Actor;
  /** Calls a route: `call(actor, "POST", "/accounts/1/keys", { name: "k" })`. Without an actor, signed out. */
  call(
    actor: Actor | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ConsoleAnswer>;
  /** Calls a route and returns its response unread, as of a stream. `signal` disconnects the caller. */
  open(
    actor: Actor | undefined,
    method: string,
    path: string,
    body?: unknown,
    how?: OpenOptions,
  ): Promise<Response>;
  stop(): Promise<void>;
}

interface OpenOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal;
}

export interface ConsoleAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test checks what it reads.
  readonly json: any;
}

export async function openTestConsole(
  options: TestGatewayOptions = {},
  overrides: Partial<ConsoleParts> = {},
): Promise<TestConsole> {
  const gateway = await startTestGateway(options);
  const { database, ledger } = gateway.tollgate;
  const actors = new Map<string, Actor>();
  const parts: ConsoleParts = {
    ...gateway.tollgate.console.parts,
    identify: async (request) => actors.get(request.headers.get("x-test-actor") ?? ""),
    ...overrides,
    settings: { ...gateway.tollgate.console.parts.settings, publicUrl: PUBLIC_URL, ...overrides.settings },
  };
  const entry = createConsole(parts);
  const newPerson = (more: Partial<Actor> = {}): Actor => {
    const id = Bun.randomUUIDv7();
    const session = { id, mustChangePassword: false, confirmedAtMs: Date.now() };
    const base = { id, name: `${id}@example.com`, isOperator: false, role: undefined, acting: undefined };
    const actor: Actor = { kind: "person", ...base, session, address: "192.0.2.1", ...more };
    actors.set(actor.id, actor);
    return actor;
  };
  const open: TestConsole["open"] = (actor, method, path, body, how = {}) => {
    if (actor) actors.set(actor.id, actor);
    const headers = {
      origin: PUBLIC_URL,
      ...(actor ? { "x-test-actor": actor.id } : {}),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...how.headers,
    };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const { signal } = how;
    const init = { method, headers, ...sent, ...(signal && { signal }) };
    return entry(new Request(`${PUBLIC_URL}/console/api${path}`, init), "192.0.2.1");
  };
  return {
    gateway,
    parts,
    newAccount: (name = `account-${Bun.randomUUIDv7()}`) => createAccount({ database, ledger }, { name }),
    async newMember(accountId, role) {
      const actor = newPerson();
      const { db, tables } = database;
      await db
        .insert(tables.members)
        .values({ accountId, personId: actor.id, role, createdAtMs: Date.now() });
      return actor;
    },
    newOperator: (more = {}) => newPerson({ isOperator: true, ...more }),
    open,
    call: async (actor, method, path, body, headers) =>
      readAnswer(await open(actor, method, path, body, { headers })),
    stop: () => gateway.stop(),
  };
}

async function readAnswer(response: Response): Promise<ConsoleAnswer> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}
