import { readPage } from "./pages.ts";

const PAGE = readPage("docs/payments.md");

export const CALLER_YAML = PAGE.snippet("callers:");
export const SIGNED_CALLS = PAGE.snippet("webhook-signature");
export const PAYMENT_BLOCKS = [CALLER_YAML, SIGNED_CALLS];
