import { readPage } from "./pages.ts";

const PAGE = readPage("docs/provider-tools.md");

/** The blocks of the page on tools at the provider that tests run. */
export const FEES_YAML = PAGE.snippet("default_max_tool_calls");
export const AUDIO_YAML = PAGE.snippet("audio_tokens");
