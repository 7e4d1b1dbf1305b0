/** A client that asks for one response after another over one WebSocket. */
export interface SocketClient {
  /** Resolves with the id and the cost of a finished response. Rejects when the connection breaks, or after 20 s. */
  ask(input: string): Promise<{ readonly id: string; readonly cost: string }>;
  close(): void;
}

const ASK_MS_MAX = 20_000;

/** Connects anew with the next question after a connection broke. */
export function createSocketClient(url: string, secret: string): SocketClient {
  let socket: WebSocket | undefined;

  async function connect(): Promise<WebSocket> {
    const options = { headers: { authorization: `Bearer ${secret}` } };
    // The cast is safe: Bun's constructor takes options, which the types of the DOM do not declare.
    const opened = new WebSocket(`${url.replace("http", "ws")}/v1/responses`, options as unknown as string[]);
    await new Promise((resolve, reject) => {
      opened.onopen = resolve;
      opened.onerror = () => reject(new Error("no connection"));
    });
    return opened;
  }

  return {
    async ask(input) {
      socket = socket?.readyState === WebSocket.OPEN ? socket : await connect();
      const asked = socket;
      const { promise, resolve, reject } = Promise.withResolvers<{ id: string; cost: string }>();
      const timer = setTimeout(() => reject(new Error("no answer")), ASK_MS_MAX);
      asked.onclose = () => reject(new Error("closed"));
      asked.onmessage = ({ data }) => {
        const { type, headers = {} } = JSON.parse(String(data));
        if (type === "error" || type === "response.failed") reject(new Error("failed"));
        if (type === "response.completed")
          resolve({ id: headers["x-request-id"], cost: headers["x-tollgate-cost-usd"] ?? "-" });
      };
      asked.send(JSON.stringify({ type: "response.create", model: "demo", input }));
      return promise.finally(() => clearTimeout(timer));
    },
    close: () => socket?.close(),
  };
}
