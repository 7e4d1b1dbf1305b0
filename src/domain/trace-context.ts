/**
 * A place in a distributed trace, as the headers of W3C Trace Context carry it to the next process.
 *
 * @see https://www.w3.org/TR/trace-context/
 */
export interface TraceContext {
  /** "00-TRACE_ID-SPAN_ID-FLAGS" in lower-case hex. */
  readonly traceparent: string;
  /** At most 512 characters. */
  readonly tracestate?: string | undefined;
}
