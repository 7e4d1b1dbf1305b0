import { resolve } from "node:path";
import { isPrivateHost } from "../domain/addresses.ts";
import { checkPaymentCallers } from "./payment-callers.ts";
import { checkPlans } from "./plans.ts";
import { checkPrices, isPricedByUnit } from "./price-rules.ts";
import type { Path, Problems } from "./problems.ts";
import type { ConfigFile, ExportEntry, ModelEntry, Partly, RouteEntry } from "./schema.ts";
import { TOKENS_MAX } from "./schema-parts.ts";
import { checkSignIn } from "./sign-in.ts";
import { checkUpstream, DEMO_UPSTREAM } from "./upstream-rules.ts";

/** Reports problems beyond the schema: names, base URLs, unknown upstreams, contradictory limits. */
export function checkRules(file: Partly<ConfigFile>, problems: Problems): void {
  const upstreams = Object.entries(file.upstreams ?? {});
  for (const [name, upstream] of upstreams) checkUpstream(name, upstream ?? {}, problems);
  const known = new Set([DEMO_UPSTREAM, ...upstreams.map(([name]) => name)]);
  checkOrigins(file.http?.cors_origins ?? [], problems);
  const expected = `one of ${[...known].join(", ")}`;
  for (const [id, model] of Object.entries(file.models ?? {})) {
    const path = ["models", id];
    checkModelId(path, id, problems);
    checkRoutes(path, model ?? {}, { known, expected, problems });
    checkRequired(path, model ?? {}, problems);
    checkTokens(path, model ?? {}, problems);
    checkLongContext(path, model ?? {}, problems);
    checkPrices(path, model ?? {}, problems);
  }
  checkDefaultModels(file, problems);
  checkExports(file.exports ?? {}, problems);
  checkPlans(file, problems);
  checkSignIn(file.console?.sign_in, problems);
  checkPaymentCallers(file.payments?.callers, problems);
}

/** Checks that the default model of a route exists, and that the route can be answered by it. */
function checkDefaultModels(file: Partly<ConfigFile>, problems: Problems): void {
  for (const [surface, id] of Object.entries(file.default_models ?? {})) {
    if (id === undefined) continue;
    const path = ["default_models", surface];
    const models = file.models ?? {};
    const model = Object.hasOwn(models, id) ? models[id] : undefined;
    if (!model) problems.add(path, "is not the id of a model", "one of the keys of models");
    else if (!serves(surface, model, file)) {
      const expected =
        "a model with a price of tokens or of this route's unit, and an upstream of protocol openai";
      problems.add(path, "cannot be served by that model", expected);
    }
  }
}

function serves(surface: string, model: Partly<ModelEntry>, { upstreams = {} }: Partly<ConfigFile>): boolean {
  const isPriced = !isPricedByUnit(model) || (surface === "images" && isPricedByUnit(model, "image"));
  const routes = Object.values(model.routes ?? {});
  return isPriced && routes.some((route) => upstreams[route?.upstream ?? ""]?.protocol === "openai");
}

/** Origins must equal an `origin` header, which has no path, upper case or default port. */
function checkOrigins(origins: string | readonly (string | undefined)[], problems: Problems): void {
  if (typeof origins === "string") return;
  for (const [index, origin = ""] of origins.entries()) {
    const isOrigin = /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@A-Z]+$/.test(origin);
    if (isOrigin && (!origin.startsWith("http") || URL.parse(origin)?.origin === origin)) continue;
    const expected = "scheme, host and port as a browser sends them, such as https://app.example.com";
    problems.add(["http", "cors_origins", String(index)], "is not an origin", expected);
  }
}

function checkModelId(path: Path, id: string, problems: Problems): void {
  if (/^[^\s\p{Cc}\p{Cs}]{1,256}$/u.test(id) && id !== "__proto__") return;
  problems.add(path, "is not a valid model id", "1 to 256 characters without spaces");
}

function checkRoutes(
  path: Path,
  model: Partly<ModelEntry>,
  { known, expected, problems }: { known: ReadonlySet<string>; expected: string; problems: Problems },
): void {
  for (const [index, route] of Object.entries(model.routes ?? {})) {
    checkRouteTokens([...path, "routes", index], route ?? {}, problems);
    const upstream = route?.upstream;
    if (upstream === undefined || known.has(upstream)) continue;
    problems.add([...path, "routes", index, "upstream"], "is not the name of an upstream", expected);
  }
}

/** Checks max_output_tokens ≤ context_window of a route, for the given ones. */
function checkRouteTokens(
  path: Path,
  { context_window: window, max_output_tokens: max }: Partly<RouteEntry>,
  problems: Problems,
): void {
  if (max === undefined || window === undefined || max <= window) return;
  problems.add([...path, "max_output_tokens"], "is above context_window", `at most ${window}`);
}

/** Checks that a model that is priced by tokens has a window and an output limit. */
function checkRequired(path: Path, model: Partly<ModelEntry>, problems: Problems): void {
  if (isPricedByUnit(model)) return;
  for (const [key, min] of [
    ["context_window", 1],
    ["max_output_tokens", 0],
  ] as const) {
    if (!(key in model))
      problems.add([...path, key], "is missing", `a whole number from ${min} to ${TOKENS_MAX}`);
  }
}

/** Checks default_max_output_tokens ≤ max_output_tokens ≤ context_window, for the given ones. */
function checkTokens(path: Path, model: Partly<ModelEntry>, problems: Problems): void {
  const { context_window: window, max_output_tokens: max, default_max_output_tokens: byDefault } = model;
  if (max !== undefined && window !== undefined && max > window) {
    problems.add([...path, "max_output_tokens"], "is above context_window", `at most ${window}`);
  }
  if (byDefault !== undefined && max !== undefined && byDefault > max) {
    const expected = max === 0 ? "no such key, for a model without output" : `at most ${max}`;
    problems.add([...path, "default_max_output_tokens"], "is above max_output_tokens", expected);
  }
}

/** Checks the window and the threshold of `long_context`, and that no route has a long price without it. */
function checkLongContext(path: Path, model: Partly<ModelEntry>, problems: Problems): void {
  const { context_window: window, long_context: long } = model;
  const wide = long?.context_window ?? window;
  if (wide !== undefined && window !== undefined && wide < window) {
    problems.add(
      [...path, "long_context", "context_window"],
      "is below context_window",
      `at least ${window}`,
    );
  }
  const above = long?.above_input_tokens;
  if (above !== undefined && wide !== undefined && above > Math.max(wide, window ?? 0)) {
    problems.add([...path, "long_context", "above_input_tokens"], "is above every window", `at most ${wide}`);
  }
  for (const [index, route] of Object.entries(model.routes ?? {})) {
    for (const key of ["long_context_price", "long_context_cost"] as const) {
      if (route?.[key] === undefined || long !== undefined) continue;
      problems.add(
        [...path, "routes", index, key],
        "has no long_context",
        "long_context of the model beside it",
      );
    }
  }
}

type Entries = NonNullable<Partly<ConfigFile>["exports"]>;

/** The keys of one kind of export, and of no other. */
const KEYS = {
  file: ["path", "rotate", "rotate_bytes"],
  http: ["url", "secret", "headers", "gzip", "batch_bytes", "timeout_ms"],
  otlp: ["url", "headers", "gzip", "batch_bytes", "timeout_ms"],
} as const;

/** Reports problems of exports beyond the schema: names, keys of another kind, addresses, paths used twice. */
function checkExports(exports: Entries, problems: Problems): void {
  const paths = new Set<string>();
  for (const [name, entry = {}] of Object.entries(exports)) {
    const path = ["exports", name];
    if (!/^[a-z\d][a-z\d_-]{0,31}$/.test(name)) {
      const expected = "1 to 32 lower-case letters, digits, dashes and underscores";
      problems.add(path, "is not a valid name of an export", expected);
    }
    checkKeys(path, entry, problems);
    checkUrl(path, entry, problems);
    checkHeaders(path, entry, problems);
    if (entry.path === undefined) continue;
    const file = resolve(entry.path);
    if (paths.has(file)) problems.add([...path, "path"], "is the file of another export", "another path");
    paths.add(file);
  }
}

function checkKeys(path: Path, entry: Partly<ExportEntry>, problems: Problems): void {
  const { kind } = entry;
  if (kind === undefined) return;
  const known: readonly string[] = ["kind", "start", "batch_lines", ...KEYS[kind]];
  for (const [key, value] of Object.entries(entry)) {
    if (value === undefined || known.includes(key)) continue;
    problems.add([...path, key], `is not a key of kind ${kind}`, `one of ${known.join(", ")}`);
  }
  const required = kind === "file" ? "path" : "url";
  if (!Object.hasOwn(entry, required)) {
    problems.add([...path, required], "is missing", kind === "file" ? "the path of a file" : "an https URL");
  }
}

/** No text quotes the URL, which may hold a secret. */
function checkUrl(path: Path, { url: text }: Partly<ExportEntry>, problems: Problems): void {
  if (text === undefined) return;
  const at = [...path, "url"];
  const url = URL.parse(text);
  if (!url) problems.add(at, "is not a URL", "one such as https://usage.example.com/lines");
  else if (url.username || url.password) problems.add(at, "contains credentials", "them in headers");
  else if (url.hash) problems.add(at, "has a fragment", "a URL without #");
  else if (url.protocol !== "https:" && !(url.protocol === "http:" && isInternal(url.hostname))) {
    const wrong = url.protocol === "http:" ? "is not encrypted" : "has a scheme other than https and http";
    problems.add(at, wrong, "https, or http on a loopback, private or internal host");
  }
}

/** Private addresses, and names that are none on the public internet: one label, as in a container network. */
function isInternal(hostname: string): boolean {
  return isPrivateHost(hostname) || /^[a-z\d_-]+$|\.(local|internal|svc)$/.test(hostname);
}

const RESERVED = /^(host|connection|transfer-encoding|content-(length|type|encoding)|tollgate-.*)$/i;

function checkHeaders(path: Path, { headers = {} }: Partly<ExportEntry>, problems: Problems): void {
  for (const name of Object.keys(headers)) {
    if (/^[A-Za-z\d-]{1,64}$/.test(name) && !RESERVED.test(name)) continue;
    problems.add(
      [...path, "headers", name],
      "is not a header that can be set",
      "a name such as authorization",
    );
  }
}
