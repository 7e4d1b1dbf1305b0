import { readPage } from "./pages.ts";

/** The block of the page of service tiers that a test runs. */
export const TIERS_YAML = readPage("docs/tiers.md").snippet("gpt-5-fast:");
