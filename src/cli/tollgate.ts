#!/usr/bin/env bun
import { createProgram } from "./program.ts";
import { runProgram } from "./run-program.ts";

const exitCode = await runProgram(createProgram(), Bun.argv);
process.exitCode = exitCode;
// A server that failed to start may have timers running; one that started keeps the process alive.
if (exitCode !== 0) process.exit();
