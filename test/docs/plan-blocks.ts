import { readPage } from "./pages.ts";

const PAGE = readPage("docs/plans.md");

/** The blocks of the page of plans. The test of the page runs each of them. */
export const PLAN_YAML = PAGE.snippet("plans:");
export const PLAN_COMMANDS = PAGE.snippet("subscription create");
export const PLAN_BLOCKS = [PLAN_YAML, PLAN_COMMANDS];
