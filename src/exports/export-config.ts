/** One export of usage, as configured. */
export type ExportConfig = FileExport | HttpExport | OtlpExport;

interface ExportBase {
  readonly name: string;
  /** Where a new export starts: at the first transfer of the ledger, or with what ends from now on. */
  readonly start: "beginning" | "now";
  /** The most lines of a batch. */
  readonly batchLines: number;
}

export interface FileExport extends ExportBase {
  readonly kind: "file";
  readonly path: string;
  /** When a new file is begun: each UTC day or hour, or at the size alone. */
  readonly rotate: "day" | "hour" | "size";
  /** The size in bytes from which on a new file is begun. */
  readonly rotateBytes: number;
}

/** Settings of every export that posts over HTTP. */
interface PostExport extends ExportBase {
  readonly url: string;
  /** Sent with every request, such as `authorization`. Values may be secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly gzip: boolean;
  /** The most bytes of a batch, before compression; one line may exceed it. */
  readonly batchBytes: number;
  readonly timeoutMs: number;
}

export interface HttpExport extends PostExport {
  readonly kind: "http";
  /** Signs every request; `undefined` for no signature. */
  readonly secret: string | undefined;
}

/** `url` is the address of a collector, to which `/v1/logs` is appended. */
export interface OtlpExport extends PostExport {
  readonly kind: "otlp";
}
