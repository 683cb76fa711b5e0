#!/usr/bin/env node
/* An MCP server on mcp-lite, over Streamable HTTP: what the session 'common' asks for.
 *
 *     node tests/peers/lite-server.mjs FOLDER
 *
 * FOLDER is where the group 'others' of tools/peers is installed. Listens on a free port of the loopback
 * interface; the first line on stdout is the URL. Everything it says depends only on what it is asked. */
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const home = resolve(process.argv[2]);
const need = createRequire(join(home, "package.json"));
const { InMemorySessionAdapter, McpServer, StreamableHttpTransport } =
    await import(pathToFileURL(join(home, "node_modules/mcp-lite/dist/index.js")));
const { toNodeHandler } = need("@modelcontextprotocol/node");
const { z } = need("zod");

const text = (said, more) => ({ content: [{ type: "text", text: said }], ...more });
const memo = (uri, said) => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text: said }] });

async function count({ to }, context) {
    for (let i = 1; i <= to; i++)
        await context.progress?.({ progress: i, total: to, message: `step ${i} of ${to}` });
    return text(`counted to ${to}`);
}

async function slow({ ms }) {
    await sleep(ms);
    return text(`waited ${ms} ms`);
}

const tools = {
    add: ["Add two integers.", { a: z.number(), b: z.number() }, ({ a, b }) => text(`${a + b}`)],
    echo: ["Give the text back.", { text: z.string() }, (args) => text(args.text)],
    weather: ["One part of content.", { city: z.string() }, ({ city }) => text(`${city}: -1.5, clear, cold`)],
    slow: ["Answer late, so that a faster call overtakes it.", { ms: z.number() }, slow],
    fail: ["A tool error: an ordinary result with isError.", { why: z.string() }, ({ why }) => text(why, { isError: true })],
    count: ["Count, with progress.", { to: z.number() }, count],
};

const server = new McpServer({
    name: "mcpreel-lite-server", version: "1.0.0", schemaAdapter: (schema) => z.toJSONSchema(schema),
});
for (const [name, [description, shape, handler]] of Object.entries(tools))
    server.tool(name, { description, inputSchema: z.object(shape), handler });
server.resource("memo://today", { name: "today", mimeType: "text/plain" }, (uri) => memo(uri, "buy tape\n"));
server.resource("memo://letters/{name}", { name: "letter", mimeType: "text/plain" },
    (uri, { name }) => memo(uri, `Dear ${name},\n\tthis is "quoted" \\ and \u0001 is a control character.\n`));
server.prompt("greet", {
    description: "A prompt with one required argument.",
    arguments: z.object({ name: z.string() }),
    handler: ({ name }) => ({
        messages: [{ role: "user", content: { type: "text", text: `Greet ${name} in a warm tone.` } }],
    }),
});

const handler = new StreamableHttpTransport({ sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 1024 }) })
    .bind(server);
const http = createServer(toNodeHandler({ fetch: handler }));
http.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
