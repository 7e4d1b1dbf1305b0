import { type AnyElysia, Elysia, t } from "elysia";
import { loadPart } from "../../program-files.ts";
import { describeShared, describeV1, referToErrors } from "../v1-description.ts";
import type { PartsOf } from "./console-parts.ts";
import { createGuard } from "./guard.ts";

type Parts = PartsOf<"settings">;

const VERSION = "3.1.0";

/** Returns the assembled API, which exists when the first request comes. */
type FindApp = () => AnyElysia;

/** Serves the description of the console's API and of `/v1`. Its page is one of the console's own. */
export function apiDescriptionRoutes(parts: Parts, findApp: FindApp) {
  let described: Promise<Description> | undefined;
  return new Elysia().use(createGuard(parts, "Description")).get(
    "/openapi.json",
    async () => {
      described ??= describe(findApp(), parts.settings.publicUrl);
      return await described;
    },
    {
      summary: "Describe this API as OpenAPI 3.1",
      isPublic: true,
      response: t.Object({
        openapi: t.String(),
        info: t.Object({ title: t.String(), version: t.String() }),
        servers: t.Array(t.Object({ url: t.String() })),
        paths: t.Record(t.String(), t.Record(t.String(), t.Record(t.String(), t.Unknown()))),
        components: t.Record(t.String(), t.Unknown()),
      }),
    },
  );
}

type Operation = Record<string, unknown>;
type Paths = Record<string, Record<string, Operation>>;

interface Description {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly servers: { readonly url: string }[];
  readonly paths: Paths;
  readonly components: Record<string, unknown>;
}

/** The plugin's own page loads a script of another host, so that only its schemas are used. */
async function describe(app: AnyElysia, url: string): Promise<Description> {
  const { toOpenAPISchema } = await loadPart(() => import("@elysiajs/openapi/openapi"));
  const { paths, components } = toOpenAPISchema(app, { staticFile: false }, undefined, undefined, VERSION);
  // Schemas of TypeBox carry symbols and functions that JSON leaves out.
  const own = numbersAlone(JSON.parse(JSON.stringify(paths))) as Paths;
  const shared = describeShared();
  return {
    openapi: VERSION,
    info: { title: "Tollgate", version: "1" },
    servers: [{ url }],
    paths: { ...describeV1(), ...completeAll(own) },
    components: { ...components, ...shared, schemas: { ...components.schemas, ...shared.schemas } },
  };
}

/** The order of the groups. */
const GROUPS: readonly unknown[] = [
  "Sign-in",
  "Me",
  "Accounts",
  "Keys",
  "Management keys",
  "Models",
  "Requests",
  "Usage",
  "Wallet",
  "Notices",
  "Team",
  "Operators",
  "Description",
];
const IDEMPOTENCY_KEY = {
  name: "idempotency-key",
  in: "header",
  required: false,
  schema: {
    type: "string",
    minLength: 1,
    maxLength: 255,
    description: "A repetition within 24 hours gets the first answer and creates nothing.",
  },
};

/** Adds what every route of the console has: its errors, who may call it, and what a repetition does. */
function complete(described: Operation, path: string): Operation {
  const { summary, tags, "x-idempotent": isIdempotent, ...operation } = described;
  const { responses, requestBody, parameters } = operation;
  const isPublic = operation["x-needs"] === "public";
  const named = Array.isArray(parameters) ? parameters : [];
  return {
    summary,
    tags,
    ...operation,
    security: isPublic ? [] : [{ session: [] }, { managementKey: [] }],
    parameters: isIdempotent ? [...named, IDEMPOTENCY_KEY] : named,
    ...(isRecord(requestBody) ? { requestBody: jsonAlone(requestBody) } : {}),
    responses: {
      ...describeOther(path),
      ...referToErrors("chat"),
      ...(isRecord(responses) ? responses : {}),
    },
  };
}

/** Answers of routes that send no JSON, which carry no schema. */
function describeOther(path: string): Record<string, unknown> {
  const type = /[./]csv$/.test(path) ? "text/csv" : /\/(live|playground)$/.test(path) && "text/event-stream";
  if (!type) return {};
  const description = type === "text/csv" ? "The rows as CSV" : "The events";
  return { 200: { description, content: { [type]: { schema: { type: "string" } } } } };
}

/** The entry refuses every other type of body. */
function jsonAlone({ content, ...body }: Operation): Operation {
  const json = isRecord(content) ? content["application/json"] : undefined;
  return { ...body, content: json === undefined ? {} : { "application/json": json } };
}

/**
 * Numbers of TypeBox for Elysia are also read from text, as queries need it. JSON bodies and answers hold
 * numbers alone, and a reader of the description must not take the text for a form of its own.
 */
function numbersAlone(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(numbersAlone);
  if (!isRecord(value)) return value;
  const { anyOf, ...others } = value;
  const numbers = Array.isArray(anyOf) ? anyOf.filter((choice) => !isNumberText(choice)) : [];
  const isNumber = Array.isArray(anyOf) && numbers.length < anyOf.length && numbers.length === 1;
  const merged = isNumber && isRecord(numbers[0]) ? { ...others, ...numbers[0] } : value;
  return Object.fromEntries(Object.entries(merged).map(([name, member]) => [name, numbersAlone(member)]));
}

function isNumberText(choice: unknown): boolean {
  return (
    isRecord(choice) &&
    choice.type === "string" &&
    (choice.format === "integer" || choice.format === "numeric")
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Completes every operation. Paths of a group stand together, in the order of the groups. */
function completeAll(paths: Paths): Paths {
  const completed = Object.entries(paths).map(([path, operations]) => {
    const all = Object.entries(operations).map(([method, operation]) => [method, complete(operation, path)]);
    return [path, Object.fromEntries(all) as Record<string, Operation>] as const;
  });
  const groupOf = (operations: Record<string, Operation>) => {
    const [first] = Object.values(operations);
    return GROUPS.indexOf(Array.isArray(first?.tags) ? first.tags[0] : undefined);
  };
  return Object.fromEntries(completed.toSorted(([, a], [, b]) => groupOf(a) - groupOf(b)));
}
