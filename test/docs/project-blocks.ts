import { readPage } from "./pages.ts";

const PAGE = readPage("docs/projects.md");

export const PROJECT_COMMANDS = PAGE.snippet("project create");
export const MEMBER_COMMANDS = PAGE.snippet("member limit");
export const MAKE_CHILD = PAGE.snippet("nightly triage");
export const AGENT_RUN = PAGE.snippet("for (;;)");
export const AGENT_PROGRAM = PAGE.snippet("claude -p");

export const PROJECT_BLOCKS = [PROJECT_COMMANDS, MEMBER_COMMANDS, MAKE_CHILD, AGENT_RUN, AGENT_PROGRAM];
