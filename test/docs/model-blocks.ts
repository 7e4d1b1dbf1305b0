import { readPage } from "./pages.ts";

const MODELS = readPage("docs/models.md");

/** The blocks of the page on models that tests run. */
export const MODEL_COMMANDS = MODELS.snippet("bun tollgate models add");
export const KNOWN_YAML = MODELS.snippet("known: anthropic/claude-sonnet-4-5");
