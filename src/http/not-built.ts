/**
 * Routes of the OpenAI and Anthropic APIs that clients know and Tollgate does not have: 501 there tells
 * "not here" from "no such path". `*` stands for the rest of a path, also for none.
 */
const NOT_BUILT: readonly (readonly [methods: string, path: string])[] = [
  ["GET POST DELETE", "/v1/messages/batches*"],
  ["POST", "/v1/complete"],
  ["GET POST DELETE", "/v1/responses/*"],
  ["GET", "/v1/responses"],
  ["GET POST DELETE", "/v1/conversations*"],
  ["GET POST DELETE", "/v1/chat/completions/*"],
  ["GET", "/v1/chat/completions"],
  ["POST", "/v1/completions"],
  ["POST", "/v1/moderations"],
  ["POST", "/v1/images/*"],
  ["GET POST DELETE", "/v1/videos*"],
  ["GET POST DELETE", "/v1/audio/*"],
  ["GET POST DELETE", "/v1/files*"],
  ["GET POST DELETE", "/v1/uploads*"],
  ["GET POST DELETE", "/v1/batches*"],
  ["GET POST DELETE", "/v1/fine_tuning/*"],
  ["GET POST DELETE", "/v1/assistants*"],
  ["GET POST DELETE", "/v1/threads*"],
  ["GET POST DELETE", "/v1/vector_stores*"],
  ["GET POST DELETE", "/v1/containers*"],
  ["GET POST DELETE", "/v1/evals*"],
  ["GET POST DELETE", "/v1/realtime*"],
  ["GET POST DELETE", "/v1/skills*"],
  ["DELETE", "/v1/models/*"],
];

/** The paths of those routes, as routes are written. */
export const NOT_BUILT_PATHS: readonly string[] = NOT_BUILT.flatMap(([, pattern]) =>
  pattern.endsWith("*") && !pattern.endsWith("/*")
    ? [pattern.slice(0, -1), pattern.replace("*", "/*")]
    : [pattern],
);

/** Whether a method and path belong to a known route that is not built. */
export function isNotBuilt(method: string, path: string): boolean {
  return NOT_BUILT.some(
    ([methods, pattern]) => methods.split(" ").includes(method) && matches(pattern, path),
  );
}

function matches(pattern: string, path: string): boolean {
  if (!pattern.endsWith("*")) return path === pattern;
  const stem = pattern.slice(0, -1);
  if (stem.endsWith("/")) return path.startsWith(stem) && path.length > stem.length;
  return path === stem || path.startsWith(`${stem}/`);
}
