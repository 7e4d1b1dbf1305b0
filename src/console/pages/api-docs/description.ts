import { queryOptions } from "@tanstack/react-query";
import { api, call } from "../../api.ts";
import type { Schema } from "./schema.ts";

/** A route as the page draws it. */
export interface Route {
  /** "get /v1/models": also what the URL names. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly group: string;
  readonly summary: string;
  readonly text: string;
  /** Who may call it: "keys.write", "operator". */
  readonly needs: string | undefined;
  readonly isConfirmed: boolean;
  readonly isForKeys: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly schema: Schema; readonly example: unknown } | undefined;
  readonly answers: readonly {
    readonly status: string;
    readonly text: string;
    readonly schema: Schema | undefined;
    readonly example: unknown;
  }[];
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Content {
  readonly [type: string]: { readonly schema?: Schema; readonly example?: unknown };
}

interface Answer {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Content;
}

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly "x-needs"?: string;
  readonly "x-confirmed"?: boolean;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Content };
  readonly responses?: Readonly<Record<string, Answer>>;
}

type Document = Awaited<ReturnType<typeof fetchDescription>>;

const fetchDescription = () => call(() => api["openapi.json"].get());

export const descriptionQuery = queryOptions({
  queryKey: ["description"],
  queryFn: fetchDescription,
  staleTime: Number.POSITIVE_INFINITY,
  select: listRoutes,
});

/** Every route of the description, in its order. */
function listRoutes(document: Document): readonly Route[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    // Safe because the document is OpenAPI, which a test checks.
    Object.entries(methods).map(([method, operation]) =>
      readRoute({ path, method }, operation as Operation, document),
    ),
  );
}

function readRoute(
  { path, method }: { readonly path: string; readonly method: string },
  operation: Operation,
  document: Document,
): Route {
  const body = operation.requestBody?.content?.["application/json"];
  return {
    id: `${method} ${path}`,
    method,
    path,
    group: operation.tags?.[0] ?? "other",
    summary: operation.summary ?? "",
    text: operation.description ?? "",
    needs: operation["x-needs"],
    isConfirmed: operation["x-confirmed"] ?? false,
    isForKeys: operation.security?.some((scheme) => "key" in scheme) ?? false,
    parameters: operation.parameters ?? [],
    body: body?.schema && { schema: body.schema, example: body.example },
    answers: Object.entries(operation.responses ?? {}).map(([status, answer]) =>
      readAnswer(status, answer, document),
    ),
  };
}

function readAnswer(status: string, answer: Answer, { components }: Document) {
  const responses = components.responses as Readonly<Record<string, Answer>> | undefined;
  const named = answer.$ref ? responses?.[answer.$ref.split("/").at(-1) ?? ""] : undefined;
  const { description = "", content } = named ?? answer;
  const { schema, example } = content?.["application/json"] ?? {};
  const isShared = schema?.$ref !== undefined;
  const text = description.startsWith("Response for status") ? "The answer" : description;
  return { status, text, schema: isShared ? undefined : schema, example };
}
