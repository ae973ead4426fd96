// An agent on the socket of the daemon: lines of JSON, one call at a time.
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";

export async function call(socket, cwd, method, params) {
  const stream = connect(socket);
  await once(stream, "connect");
  const lines = createInterface({ input: stream })[Symbol.asyncIterator]();
  const ask = async (id, asked, given) => {
    stream.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: asked, params: given })}\n`);
    const { result, error } = JSON.parse((await lines.next()).value);
    if (error) {
      throw new Error(`${asked}: ${error.message}`);
    }
    return result;
  };
  try {
    await ask(1, "attach", { client: { name: "test" }, protocol: 1, cwd });
    return await ask(2, method, params);
  } finally {
    stream.destroy();
  }
}
