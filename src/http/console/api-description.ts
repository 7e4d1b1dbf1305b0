import { type AnyElysia, Elysia, t } from "elysia";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import { describeShared, describeV1, referToErrors } from "./v1-description.ts";

const VERSION = "3.1.0";

/** Returns the assembled API, which exists when the first request comes. */
type FindApp = () => AnyElysia;

/** Serves the description of the console's API and of `/v1`. Its page is one of the console's own. */
export function apiDescriptionRoutes(parts: ConsoleParts, findApp: FindApp) {
  let described: Promise<Description> | undefined;
  return new Elysia().use(createGuard(parts)).get(
    "/openapi.json",
    async () => {
      described ??= describe(findApp(), parts.settings.publicUrl);
      return await described;
    },
    {
      isPublic: true,
      detail: { summary: "Describe this API as OpenAPI 3.1", tags: ["Description"] },
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
  const { toOpenAPISchema } = await import("@elysiajs/openapi/openapi");
  const { paths, components } = toOpenAPISchema(app, { staticFile: false }, undefined, undefined, VERSION);
  // Schemas of TypeBox carry symbols and functions that JSON leaves out.
  const own: Paths = JSON.parse(JSON.stringify(paths));
  const shared = describeShared();
  return {
    openapi: VERSION,
    info: { title: "Tollgate", version: "1" },
    servers: [{ url }],
    paths: { ...describeV1(), ...mapOperations(own, complete) },
    components: { ...components, ...shared, schemas: { ...components.schemas, ...shared.schemas } },
  };
}

/** Adds what every route of the console has: its errors, who may call it, and the one type of its body. */
function complete(operation: Operation, path: string): Operation {
  const { responses, requestBody, tags = [tagOf(path)] } = operation;
  const isPublic = operation["x-needs"] === "public";
  return {
    ...operation,
    tags,
    security: isPublic ? [] : [{ session: [] }, { managementKey: [] }],
    ...(isRecord(requestBody) ? { requestBody: jsonAlone(requestBody) } : {}),
    responses: { ...referToErrors("chat"), ...(isRecord(responses) ? responses : {}) },
  };
}

/** The entry refuses every other type of body. */
function jsonAlone({ content, ...body }: Operation): Operation {
  const json = isRecord(content) ? content["application/json"] : undefined;
  return { ...body, content: json === undefined ? {} : { "application/json": json } };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** "/console/api/accounts/{account}/keys/{key}" belongs to "keys". */
function tagOf(path: string): string {
  const [first = "", ...rest] = path.replace("/console/api/", "").split("/");
  const below = rest.find((part) => !part.startsWith("{"))?.replace(".csv", "");
  return first === "accounts" || first === "operator" ? `${first}${below ? `: ${below}` : ""}` : first;
}

function mapOperations(paths: Paths, map: (operation: Operation, path: string) => Operation): Paths {
  return Object.fromEntries(
    Object.entries(paths).map(([path, operations]) => [
      path,
      Object.fromEntries(
        Object.entries(operations).map(([method, operation]) => [method, map(operation, path)]),
      ),
    ]),
  );
}
