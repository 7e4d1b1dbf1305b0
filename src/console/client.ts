import type { Treaty } from "@elysiajs/eden";
import type { ConsoleApi } from "../http/console/routes.ts";

/** What a call resolves with: the data of its schema, or the error of the server. */
interface Answer {
  readonly data: unknown;
  readonly error: { readonly status: number; readonly value: unknown } | null;
  readonly status: number;
  readonly headers: Headers;
}

interface Options {
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

const METHODS = /^(get|post|put|patch|delete)$/;

/**
 * Creates the client of the API below a path. Its types are those of the routes; of their client's code, which would
 * be a fiftieth of the first view, the console needs no more than this.
 */
export function createClient(path: string): Treaty.Create<ConsoleApi>["console"]["api"] {
  // Safe because the names of a chain of members are those of the path of a route.
  return follow(path) as never;
}

/** A member is a segment of the path, a call with a parameter is its value, and a method sends. */
function follow(path: string): unknown {
  return new Proxy(() => undefined, {
    get: (_, name) => {
      const text = String(name);
      return METHODS.test(text) ? sender(path, text) : follow(`${path}/${encodeURIComponent(text)}`);
    },
    apply: (_, __, [params]: readonly Readonly<Record<string, string>>[]) =>
      follow(`${path}/${encodeURIComponent(Object.values(params ?? {})[0] ?? "")}`),
  });
}

function sender(path: string, method: string) {
  if (method === "get") return (options?: Options) => send(path, method, undefined, options);
  return (body?: unknown, options?: Options) => send(path, method, body, options);
}

async function send(
  path: string,
  method: string,
  body: unknown,
  { query = {}, headers = {} }: Options = {},
): Promise<Answer> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  const answer = await fetch(`${path}${search && `?${search}`}`, {
    method: method.toUpperCase(),
    headers: body === undefined ? headers : { "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const { status, headers: received } = answer;
  const isJson = received.get("content-type")?.includes("json");
  const value: unknown = isJson ? await answer.json() : await answer.text();
  const isWell = status < 300;
  return { data: isWell ? value : null, error: isWell ? null : { status, value }, status, headers: received };
}
