import { readPage } from "./pages.ts";

const CLAUDE_CODE = readPage("docs/tutorials/claude-code.md");
const CUSTOMER = readPage("docs/tutorials/first-customer.md");
const TEAM = readPage("docs/tutorials/team.md");
const SERVICE = readPage("docs/tutorials/bill-your-service.md");
const GATEWAYS = readPage("docs/tutorials/three-gateways.md");

/** The blocks of the tutorials. The tests of the tutorials run each of them. */
export const INIT = CLAUDE_CODE.snippet("bun run init");
const START = CLAUDE_CODE.snippet("bun start");
export const COSTS = CLAUDE_CODE.snippet("bun tollgate receipts");
export const SOLD_PLAN = CUSTOMER.snippet("plans:");
export const SELL = CUSTOMER.snippet("plan sell");
export const FIRST_REQUEST = CUSTOMER.snippet("curl -sS");
export const EARNINGS = CUSTOMER.snippet("bun tollgate figures");
export const BUDGETS = TEAM.snippet("member limit");
export const PROGRAM_KEY = TEAM.snippet("key create");
export const SPENDERS = TEAM.snippet("--by member");
export const LEDGER_ACCESS = SERVICE.snippet("ledger-token");
export const SERVICE_PROGRAM = SERVICE.snippet("proto-loader");
/** Not of the blocks that every machine runs: Go may be absent. */
export const GO_OPTIONS = SERVICE.snippet("protoc -I proto");
export const GO_PROGRAM = SERVICE.snippet("package main");
export const SERVICE_STATEMENT = SERVICE.snippet("bun tollgate statement");
export const SHARED_INIT = GATEWAYS.snippet("bun tollgate init");
export const LIMITED_KEY = GATEWAYS.snippet("--requests-per-minute");
export const ASK_THREE = GATEWAYS.snippet("for port");

export const TUTORIAL_BLOCKS = [
  INIT,
  START,
  COSTS,
  SOLD_PLAN,
  SELL,
  FIRST_REQUEST,
  EARNINGS,
  BUDGETS,
  PROGRAM_KEY,
  SPENDERS,
  LEDGER_ACCESS,
  SERVICE_PROGRAM,
  SERVICE_STATEMENT,
  SHARED_INIT,
  LIMITED_KEY,
  ASK_THREE,
];
