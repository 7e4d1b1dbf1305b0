#!/usr/bin/env bun
import { createProgram } from "./program.ts";
import { runProgram } from "./run-program.ts";

const exitCode = await runProgram(createProgram(), Bun.argv);
process.exitCode = exitCode;
// A server that failed to start may have left timers. A running server keeps the process alive by itself.
if (exitCode !== 0) process.exit();
