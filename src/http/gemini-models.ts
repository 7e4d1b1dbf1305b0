import { Elysia } from "elysia";
import type { Model } from "../domain/model.ts";
import { mayUse } from "../gateway/plan.ts";
import { answerCaller } from "./answer-caller.ts";
import { rejectKeyInUrl } from "./gemini.ts";
import type { HttpParts } from "./http-parts.ts";
import { findModel } from "./models.ts";

const PATH = "/v1beta/models";

/**
 * `GET /v1beta/models` and `/v1beta/models/{model}` in Google's form.
 *
 * @see https://ai.google.dev/api/models
 */
export function geminiModelRoutes(parts: HttpParts) {
  return new Elysia()
    .get(PATH, ({ request }) =>
      answerCaller(request, parts, ({ key, markup }, { catalog }) => {
        rejectKeyInUrl(request);
        const models = catalog.list(markup).filter((model) => mayUse(key, model.id));
        return { models: models.map(printModel) };
      }),
    )
    .get(`${PATH}/*`, ({ request }) =>
      answerCaller(request, parts, (caller, { catalog }) => {
        rejectKeyInUrl(request);
        return printModel(findModel(catalog, caller, request, `${PATH}/`));
      }),
    );
}

const GENERATION = ["generateContent", "streamGenerateContent", "countTokens"];
const EMBEDDING = ["embedContent", "batchEmbedContents"];

function printModel({ id, contextWindow, outputTokensMax, can }: Model): object {
  return {
    name: `models/${id}`,
    baseModelId: id,
    version: "1",
    displayName: id,
    inputTokenLimit: contextWindow,
    outputTokenLimit: outputTokensMax,
    supportedGenerationMethods: outputTokensMax === 0 ? EMBEDDING : GENERATION,
    ...(can ? { thinking: can.includes("reasoning") } : {}),
  };
}
