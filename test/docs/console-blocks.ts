import { readPage } from "./pages.ts";

const NOTICES = readPage("docs/notices.md");

/** Blocks of the console's pages, each run by console-pages.test.ts or compared with the code there. */
export const PROGRAMS = readPage("docs/console-programs.md").snippet("curl -sS");
export const WEBHOOK_BODY = NOTICES.snippet('"notice.raised"');
export const WEBHOOK_CHECK = NOTICES.snippet("isGenuine");
