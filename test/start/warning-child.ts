import { EventEmitter } from "node:events";
import { createLog, logStrayFaults } from "../../src/telemetry/log.ts";

const log = createLog("info");
logStrayFaults(log);
process.emitWarning("canary");
const emitter = new EventEmitter();
for (let count = 0; count < 12; count++) emitter.on("canary", () => {});
void Promise.reject(new Error("canary"));
await Bun.sleep(10);
await log.close();
