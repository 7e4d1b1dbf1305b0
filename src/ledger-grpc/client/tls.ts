import { isIP } from "node:net";
import { checkServerIdentity } from "node:tls";
import { ChannelCredentials, type ChannelOptions } from "@grpc/grpc-js";

/** PEM texts: who may vouch for the server (default: whom the system trusts), and who we are. */
export interface ClientTls {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** How a channel is secured. */
export interface Security {
  readonly credentials: ChannelCredentials;
  readonly options: ChannelOptions;
}

/** What is told to a server as the name we call it by, when it has none: TLS takes no IP address there. */
const NAMELESS = "ledger.invalid";

/** In the clear without `tls`. A server that is called by its IP address must have that in its certificate. */
export function secure(address: string, tls: ClientTls | undefined): Security {
  if (!tls) return { credentials: ChannelCredentials.createInsecure(), options: {} };
  const host = address.slice(0, address.lastIndexOf(":")).replace(/^\[|\]$/g, "");
  const isNameless = isIP(host) !== 0;
  const verification: Parameters<typeof ChannelCredentials.createSsl>[3] = isNameless
    ? { checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate) }
    : {};
  return {
    credentials: ChannelCredentials.createSsl(bytes(tls.ca), bytes(tls.key), bytes(tls.cert), verification),
    options: isNameless ? { "grpc.ssl_target_name_override": NAMELESS } : {},
  };
}

function bytes(pem: string | undefined): Buffer | null {
  return pem === undefined ? null : Buffer.from(pem);
}
