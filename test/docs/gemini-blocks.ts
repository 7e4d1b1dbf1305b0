import { readPage } from "./pages.ts";

const page = readPage("docs/gemini-clients.md");

export const GEMINI_CLI = page.snippet("GOOGLE_GEMINI_BASE_URL");
export const GEMINI_ERROR = page.snippet("RESOURCE_EXHAUSTED");

/** The blocks of the page of Gemini's form that its test runs. */
export const GEMINI_BLOCKS = [GEMINI_CLI, GEMINI_ERROR];
