import type { Gateway } from "./gateway.ts";
import type { Call } from "./request.ts";

/** A request whose reply has ended. */
interface EndedCall {
  /** Name of the route in the log. */
  readonly surface: string;
  readonly call: Pick<Call, "record" | "model" | "settled" | "waitedMs">;
  /** From arrival to the end of the reply. */
  readonly ms: number;
}

/**
 * Counts a request in the metrics, once. A model that the catalog does not have is counted as "", because a
 * client chooses its name.
 */
export function countRequest(
  { requestMetrics, catalog }: Pick<Gateway, "requestMetrics" | "catalog">,
  { surface, call, ms }: EndedCall,
): void {
  const { record, model, settled, waitedMs } = call;
  requestMetrics.ended({
    surface,
    isEmbedding: surface === "embeddings",
    model: record.model ?? (model === undefined ? "" : (catalog.find(model)?.id ?? "")),
    upstream: record.upstream ?? "",
    code: record.outcome ?? "internal_error",
    ms,
    addedMs: Math.max(0, ms - waitedMs),
    settled,
  });
}
