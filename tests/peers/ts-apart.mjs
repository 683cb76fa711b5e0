// The official TypeScript SDK where a tool speaks not to its call but to the session: what it says goes to the stream
// of the client's GET.
//
//     node ts-apart.mjs NODE_MODULES_PARENT serve            a server on a free port; the first line on stdout is its URL
//     node ts-apart.mjs NODE_MODULES_PARENT visit URL TOOL…  calls its tools in turn; prints what happened, in order
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const [peers, role, url, ...names] = process.argv.slice(2);
const sdk = (file) =>
    import(pathToFileURL(path.join(peers, "node_modules/@modelcontextprotocol/sdk/dist/esm", file)));
const text = (said) => ({ content: [{ type: "text", text: said }] });

async function serve() {
    const { McpServer } = await sdk("server/mcp.js");
    const { StreamableHTTPServerTransport } = await sdk("server/streamableHttp.js");
    const sessions = {};
    const made = () => {
        const mcp = new McpServer({ name: "apart", version: "1" }, { capabilities: { logging: {} } });
        mcp.registerTool("plain", {}, () => text("plain"));
        mcp.registerTool("log", {}, async () => {
            await mcp.server.sendLoggingMessage({ level: "info", data: "logged" });
            await pause(50); // two streams: the log is to be there first
            return text("log");
        });
        mcp.registerTool("ask", {}, async () => {
            const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
            const said = await mcp.server.elicitInput({ message: "who?", requestedSchema });
            return text(said.content.name);
        });
        return mcp;
    };
    const http = createServer(async (request, response) => {
        let transport = sessions[request.headers["mcp-session-id"]];
        if (!transport) {
            transport = new StreamableHTTPServerTransport({
                sessionIdGenerator: randomUUID,
                onsessioninitialized: (id) => (sessions[id] = transport),
            });
            await made().connect(transport);
        }
        await transport.handleRequest(request, response);
    });
    http.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
}

async function visit() {
    const { Client } = await sdk("client/index.js");
    const { StreamableHTTPClientTransport } = await sdk("client/streamableHttp.js");
    const { ElicitRequestSchema, LoggingMessageNotificationSchema } = await sdk("types.js");
    const client = new Client({ name: "apart", version: "1" }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, async () => {
        console.log("is asked");
        await pause(200); // an answer that does not wait for this would be here before
        console.log("answers");
        return { action: "accept", content: { name: "Bob" } };
    });
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => console.log("receives", params.data));
    const transport = new StreamableHTTPClientTransport(new URL(url));
    await client.connect(transport);
    await pause(300); // its GET is on the way
    for (const name of names) {
        console.log("calls", name);
        console.log("gets", (await client.callTool({ name, arguments: {} })).content[0].text);
        await pause(300); // what comes between two calls is seen between them
    }
    await transport.terminateSession();
    await client.close();
}

await (role === "serve" ? serve() : visit());
