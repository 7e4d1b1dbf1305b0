import { readPage } from "./pages.ts";

const page = readPage("docs/routing.md");

/** The blocks of the routing page that a test runs. */
export const POOL_YAML = page.snippet("keys:");
export const ABILITIES_YAML = page.snippet("llama-3.1-8b");
