const BEARER = /^bearer[ \t]+(\S+)[ \t]*$/i;

/**
 * The key of a request, from `Authorization: Bearer` or `x-api-key`. The first wins when both are sent,
 * because the Anthropic SDKs send their own key beside a token that was set on purpose.
 */
export function readSecret(headers: Headers): string | undefined {
  const authorization = headers.get("authorization");
  const bearer = authorization === null ? undefined : BEARER.exec(authorization)?.[1];
  return bearer ?? (headers.get("x-api-key")?.trim() || undefined);
}
