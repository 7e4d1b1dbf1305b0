import type { Agent } from "./agent.ts";
import { claudeCode } from "./claude-code.ts";
import { cline } from "./cline.ts";
import { codex, codexBaseUrl, codexCode, codexFast, codexPatch, codexSocket } from "./codex.ts";
import { geminiCli } from "./gemini-cli.ts";
import { opencode, opencodeMessages, opencodeResponses } from "./opencode.ts";
import { qwenCode } from "./qwen-code.ts";

/** Every agent that a run can start, in the order of the report. */
export const AGENTS: readonly Agent[] = [
  claudeCode,
  codex,
  codexSocket,
  codexBaseUrl,
  codexFast,
  codexPatch,
  codexCode,
  geminiCli,
  opencode,
  opencodeMessages,
  opencodeResponses,
  qwenCode,
  cline,
];
