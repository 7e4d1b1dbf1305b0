import { readPage } from "./pages.ts";

const ATTRIBUTION = readPage("docs/attribution.md");

/** The blocks of the attribution page that tests run. */
export const END_USERS = ATTRIBUTION.snippet("--end-users hashed");
export const FORGET = ATTRIBUTION.snippet("end-user forget");
export const TAGS = ATTRIBUTION.snippet("--tags feature,team");
export const CLAUDE_CODE = ATTRIBUTION.snippet("ANTHROPIC_CUSTOM_HEADERS");
export const CODEX_CONFIG = ATTRIBUTION.snippet("env_http_headers");
export const CODEX_RUN = ATTRIBUTION.snippet("codex exec");
export const LOOP = ATTRIBUTION.snippet("defaultHeaders");

export const ATTRIBUTION_BLOCKS = [END_USERS, FORGET, TAGS, CLAUDE_CODE, CODEX_CONFIG, CODEX_RUN, LOOP];
