// One call of the official TypeScript SDK with its ordinary progress handler; prints how often it was called.
//
//     node ts-progress.mjs NODE_MODULES_PARENT -- SERVER ARGS…
import path from "node:path";
import { pathToFileURL } from "node:url";

const [peers, , command, ...args] = process.argv.slice(2);
const sdk = (file) =>
    import(pathToFileURL(path.join(peers, "node_modules/@modelcontextprotocol/sdk/dist/esm/client", file)));
const { Client } = await sdk("index.js");
const { StdioClientTransport } = await sdk("stdio.js");

const client = new Client({ name: "progress", version: "1" });
await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
let calls = 0;
await client.callTool(
    { name: "trigger-long-running-operation", arguments: { duration: 0.2, steps: 4 } },
    undefined,
    { onprogress: () => calls++ },
);
await client.close();
console.log(calls);
