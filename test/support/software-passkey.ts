import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** How an answer differs from an honest one. */
export interface Dishonest {
  readonly origin?: string;
  readonly rpId?: string;
  /** Whether the authenticator checked the person. Default: true. */
  readonly isVerified?: boolean;
  /** The count of uses that is stated. Default: one more than before. */
  readonly uses?: number;
  readonly userHandle?: string;
}

interface Options {
  readonly challenge: string;
  readonly user?: { readonly id: string };
}

const UP = 0x01;
const UV = 0x04;
const AT = 0x40;

/** An authenticator in software, with one passkey, for an origin. @see https://www.w3.org/TR/webauthn-3/ */
export function createSoftwarePasskey(origin: string) {
  const id = randomBytes(32);
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  let uses = 0;
  let userHandle = "";

  const clientData = (type: string, challenge: string, at = origin) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: at, crossOrigin: false }));
  const authData = (flags: number, { rpId = new URL(origin).hostname, ...lies }: Dishonest): Buffer => {
    const head = Buffer.alloc(5);
    head.writeUInt8(lies.isVerified === false ? flags & ~UV : flags);
    head.writeUInt32BE(lies.uses ?? uses, 1);
    return Buffer.concat([sha256(Buffer.from(rpId)), head]);
  };
  const envelope = (response: object) => ({
    id: id.toString("base64url"),
    rawId: id.toString("base64url"),
    type: "public-key",
    clientExtensionResults: {},
    response,
  });

  return {
    /** Answers the options of a registration. */
    register({ challenge, user }: Options, lies: Dishonest = {}) {
      userHandle = user?.id ?? "";
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const attested = Buffer.concat([
        Buffer.alloc(16),
        length,
        id,
        printCoseKey(publicKey.export({ format: "jwk" })),
      ]);
      const data = Buffer.concat([authData(UP | UV | AT, lies), attested]);
      const size = Buffer.alloc(2);
      size.writeUInt16BE(data.length);
      // {"fmt": "none", "attStmt": {}, "authData": bytes} in CBOR.
      const text = (word: string) => Buffer.concat([Buffer.from([0x60 + word.length]), Buffer.from(word)]);
      const attestationObject = Buffer.concat([
        ...[Buffer.from([0xa3]), text("fmt"), text("none"), text("attStmt"), Buffer.from([0xa0])],
        ...[text("authData"), Buffer.from([0x59]), size, data],
      ]);
      return envelope({
        clientDataJSON: clientData("webauthn.create", challenge, lies.origin).toString("base64url"),
        attestationObject: attestationObject.toString("base64url"),
        transports: ["internal"],
      });
    },
    /** Answers the options of a sign-in or a proof. */
    answer({ challenge }: Options, lies: Dishonest = {}) {
      uses += 1;
      const client = clientData("webauthn.get", challenge, lies.origin);
      const data = authData(UP | UV, lies);
      const signature = sign("sha256", Buffer.concat([data, sha256(client)]), privateKey);
      return envelope({
        clientDataJSON: client.toString("base64url"),
        authenticatorData: data.toString("base64url"),
        signature: signature.toString("base64url"),
        userHandle: lies.userHandle ?? userHandle,
      });
    },
  };
}

/** An ES256 key as a CBOR map: {1: 2, 3: -7, -1: 1, -2: x, -3: y}. */
function printCoseKey({ x = "", y = "" }: { readonly x?: string; readonly y?: string }): Buffer {
  const coordinate = (text: string) =>
    Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(text, "base64url")]);
  const head = Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01]);
  return Buffer.concat([head, Buffer.from([0x21]), coordinate(x), Buffer.from([0x22]), coordinate(y)]);
}

function sha256(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}
