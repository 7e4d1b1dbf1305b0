import type { ModelRow } from "../../queries/overview.ts";

/** What models can do beside text, in the words of the console. */
const ABILITIES: Readonly<Record<string, string>> = {
  tools: "tools",
  images: "image input",
  documents: "documents",
  audio: "audio",
  reasoning: "reasoning",
  structured_output: "structured output",
  prompt_caching: "prompt caching",
};

/** The APIs that are no conversation, and what a model does there. */
const TASKS: Readonly<Record<string, string>> = {
  embeddings: "embeddings",
  rerank: "reranking",
  moderations: "moderation",
  images: "makes images",
  image_edits: "edits images",
  image_variations: "varies images",
  speech: "speech",
  transcriptions: "transcription",
  translations: "translation",
};

/** Something a model can do, by its name in the URL. */
export interface Ability {
  readonly id: string;
  readonly text: string;
}

/** What a model can do, abilities before tasks. */
export function abilitiesOf({ can, surfaces }: Pick<ModelRow, "can" | "surfaces">): readonly Ability[] {
  const abilities = (can ?? []).map((id) => ({ id, text: ABILITIES[id] ?? id.replaceAll("_", " ") }));
  const tasks = surfaces.flatMap((id) => {
    const text = TASKS[id];
    return text === undefined ? [] : [{ id: `api:${id}`, text }];
  });
  return [...abilities, ...tasks];
}

/** "USD per image": what a unit of a price is. */
export function unitText(unit: string): string {
  return unit === "character" ? "per character" : `per ${unit}`;
}
