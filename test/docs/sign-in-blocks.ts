import { readPage } from "./pages.ts";

const page = readPage("docs/sign-in.md");

/** The blocks of the page of ways to sign in that a test runs. */
export const SIGN_IN_YAML = page.snippet("groups_claim:");
export const PERSON_COMMANDS = page.snippet("person end-way");
