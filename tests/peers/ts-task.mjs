// Tasks made and polled by the official TypeScript SDK, one that goes through by itself and one that wants input;
// prints what it was told, a line each.
//
//     node ts-task.mjs NODE_MODULES_PARENT -- SERVER ARGS…
import path from "node:path";
import { pathToFileURL } from "node:url";

const [peers, , command, ...args] = process.argv.slice(2);
const sdk = (file) => import(pathToFileURL(path.join(peers, "node_modules/@modelcontextprotocol/sdk/dist/esm", file)));
const { Client } = await sdk("client/index.js");
const { StdioClientTransport } = await sdk("client/stdio.js");
const { CallToolResultSchema, ElicitRequestSchema } = await sdk("types.js");

const client = new Client({ name: "task", version: "1" }, { capabilities: { elicitation: { form: {} }, tasks: {} } });
client.setRequestHandler(ElicitRequestSchema, async () => {
    console.log("asked");
    return { action: "accept", content: { interpretation: "technical" } };
});
await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
await client.listTools(); // the SDK wants to know which tools make tasks
for (const ambiguous of [false, true]) {
    const call = { name: "simulate-research-query", arguments: { topic: "python", ambiguous } };
    const told = client.experimental.tasks.callToolStream(call, CallToolResultSchema, { task: { ttl: 60000 } });
    for await (const { type, task, result, error } of told)
        console.log(type, task?.status ?? "", task?.statusMessage ?? "", result ? JSON.stringify(result.content) : "", error ?? "");
}
await client.close();
