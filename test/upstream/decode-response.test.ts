import { afterEach, describe, expect, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createGzip,
  createZstdCompress,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { readBounded } from "../../src/gateway/relay-bytes.ts";
import { decodeResponse } from "../../src/upstream/content-coding.ts";
import { until } from "../support/until.ts";

const MIB = 1_048_576;
const TEXT = JSON.stringify({ text: "Grüße, 你好 👋 ".repeat(5_000) });

const CODINGS: [string, (text: string | Buffer) => Buffer][] = [
  ["gzip", gzipSync],
  ["x-gzip", gzipSync],
  ["GZip", gzipSync],
  ["deflate", deflateSync],
  ["deflate", deflateRawSync],
  // The best quality takes seconds for a bomb.
  ["br", (text) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })],
  ["zstd", zstdCompressSync],
];

let server: Server | undefined;
const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server?.close();
});

/** Returns a response over a real connection, with a coding and a body that `play` writes. */
async function responseOf(
  coding: string,
  play: (socket: Socket) => void,
  signal?: AbortSignal,
): Promise<Response> {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: ${coding}\r\n\r\n`);
      play(socket);
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return fetch(`http://127.0.0.1:${port}/`, { decompress: false, ...(signal && { signal }) });
}

function ends(body: Uint8Array) {
  return (socket: Socket) => void socket.end(body);
}

describe("a response compressed", () => {
  test.each(CODINGS)("in %s is decoded and keeps its status and other headers", async (coding, encode) => {
    const answer = await decodeResponse(await responseOf(coding, ends(encode(TEXT))));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/plain");
    expect(answer.headers.has("content-encoding")).toBe(false);
    expect(await answer.text()).toBe(TEXT);
  });

  test.each(CODINGS)("in %s as a bomb is inflated no further than it is read", async (coding, encode) => {
    const bomb = encode(Buffer.alloc(128 * MIB, " "));
    expect(bomb.byteLength).toBeLessThan(MIB);
    const answer = await decodeResponse(await responseOf(coding, ends(bomb)));
    Bun.gc(true);
    const before = process.memoryUsage().rss;
    expect(await readBounded(answer, 2 * MIB)).toBeUndefined();
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * MIB);
  });

  test.each(CODINGS.slice(0, -1))(
    "in %s and then cut or broken fails after its readable part",
    async (coding, encode) => {
      const body = encode(TEXT);
      const cut = await decodeResponse(await responseOf(coding, ends(body.subarray(0, body.length - 10))));
      expect((await readBounded(cut, MIB))?.fault).toBeInstanceOf(Error);
      const broken = await decodeResponse(await responseOf(coding, ends(Buffer.from("}".repeat(100)))));
      expect((await readBounded(broken, MIB))?.fault).toBeInstanceOf(Error);
    },
  );

  test.each([
    ["gzip", () => createGzip()],
    ["deflate", () => createDeflate()],
    ["br", () => createBrotliCompress()],
    ["zstd", () => createZstdCompress()],
  ] as const)("in %s and sent event by event is decoded event by event", async (coding, create) => {
    const encoder = create();
    const flush =
      coding === "br"
        ? constants.BROTLI_OPERATION_FLUSH
        : coding === "zstd"
          ? constants.ZSTD_e_flush
          : constants.Z_SYNC_FLUSH;
    const send = (text: string) => {
      encoder.write(text);
      encoder.flush(flush);
    };
    const opened = await responseOf(coding, (socket) => {
      encoder.on("data", (piece) => void socket.write(piece));
      encoder.on("end", () => socket.end());
      send("data: 0\n\n");
    });
    const answer = await decodeResponse(opened);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (let index = 0; index < 3; index++) {
      while (!text.includes(`data: ${index}`)) text += (await reader?.read())?.value ?? "";
      // Sends the next event after the one before has been read.
      if (index < 2) send(`data: ${index + 1}\n\n`);
    }
    encoder.end();
    expect((await reader?.read())?.done).toBe(true);
    expect(text).toBe("data: 0\n\ndata: 1\n\ndata: 2\n\n");
  });

  test.each(["gzip", "deflate"])("in %s closes its connection when its reader cancels", async (coding) => {
    const answer = await decodeResponse(
      await responseOf(coding, (socket) => void socket.write(gzipOrDeflate(coding))),
    );
    const reader = answer.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await until(() => [...sockets].every(({ destroyed }) => destroyed));
  });

  test("fails with the abort of its call", async () => {
    const controller = new AbortController();
    const opened = await responseOf(
      "gzip",
      (socket) => void socket.write(gzipOrDeflate("gzip")),
      controller.signal,
    );
    const reader = (await decodeResponse(opened)).body?.getReader();
    await reader?.read();
    controller.abort();
    const read = async () => {
      while (!(await reader?.read())?.done);
    };
    expect(await read().catch((fault) => fault.name)).toBe("AbortError");
  });

  test.each(["identity", "none", "gzip, br", "constructor"])(
    "in %s, an unknown coding, is returned unchanged",
    async (coding) => {
      const answer = await decodeResponse(await responseOf(coding, ends(Buffer.from("plain"))));
      expect(await answer.text()).toBe("plain");
    },
  );
});

/** Returns a long compressed text without its last 1,000 bytes. */
function gzipOrDeflate(coding: string): Buffer {
  const text = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index).join());
  const whole = coding === "gzip" ? gzipSync(text) : deflateSync(text);
  return whole.subarray(0, whole.length - 1_000);
}
