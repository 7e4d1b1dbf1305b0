// The worker of exports: its own thread and connections, so that no request waits for an export.
import { parentPort, workerData } from "node:worker_threads";
import { connectDatabase } from "../db/database.ts";
import type { DatabaseLocation } from "../db/location.ts";
import { openExportConnection } from "../ledger/exports/connection.ts";
import type { ExportConfig } from "./export-config.ts";
import { createFileSink } from "./file-sink.ts";
import type { Sink } from "./line.ts";
import { createHttpSink, createOtlpSink } from "./post-sink.ts";
import { type ExportEvent, startSharedExport } from "./run-export.ts";

export interface ExportWorkerData {
  readonly location: DatabaseLocation;
  readonly exports: readonly ExportConfig[];
}

/** What the worker sends: an event of one export. Any message to the worker ends it. */
export type ExportMessage = ExportEvent & { readonly name: string };

// Safe because the app starts the worker with an ExportWorkerData.
const { location, exports: configured } = workerData as ExportWorkerData;

const database = await connectDatabase(location);
const connection = openExportConnection(database);
const running = configured.map(run);

parentPort?.once("message", async () => {
  await Promise.all(running.map(({ close }) => close()));
  await connection.close();
  await database.close();
  parentPort?.close();
});

function run(config: ExportConfig) {
  return startSharedExport(database, {
    connection,
    config,
    sink: createSink(config),
    report: (event) => parentPort?.postMessage({ ...event, name: config.name } satisfies ExportMessage),
  });
}

function createSink(config: ExportConfig): Sink {
  if (config.kind === "file") return createFileSink(config);
  return config.kind === "http" ? createHttpSink(config) : createOtlpSink(config);
}
