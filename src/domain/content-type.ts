const PLAIN_TYPE = /^[a-z]{1,32}\/[\w.+-]{1,64}(; ?[a-z]{1,32}=[\w.+-]{1,64}){0,4}$/i;

/** Whether a content type has a type, a subtype and plain parameters: it can be sent on in a header. */
export function isPlainType(type: string): boolean {
  return PLAIN_TYPE.test(type);
}
