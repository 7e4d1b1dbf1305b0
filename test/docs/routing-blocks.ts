import { readPage } from "./pages.ts";

/** The block of the routing page that a test runs. */
export const POOL_YAML = readPage("docs/routing.md").snippet("keys:");
