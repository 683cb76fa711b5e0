#!/usr/bin/env node
/* An MCP server on one of the official TypeScript SDKs: what the session 'common' asks for.
 *
 *     node tests/peers/ts-server.mjs FOLDER          on stdio
 *     node tests/peers/ts-server.mjs FOLDER --http   on a free port of the loopback interface
 *     node tests/peers/ts-server.mjs FOLDER --sse    the same over HTTP+SSE; a 1.x only
 *
 * With --stateless behind it, which takes a 2.x, it rejects initialize, and has a tool that requires input.
 *
 * With --tasks behind it, which takes a late 1.x, it has tools that are tasks: what the session 'tasks' asks for.
 *
 * FOLDER is the installed package: '@modelcontextprotocol/sdk' of any 1.x, or '@modelcontextprotocol/server'
 * of 2.x, which speaks both protocol generations. Its messages depend only on the requests.
 *
 * Over HTTP the first line on stdout is the URL. A 1.x keeps sessions; a 2.x responds to each request without one,
 * also to those of the stateful protocol, and so has no streams except those of requests. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { jobsOf } from "./ts-jobs.mjs";

const INFO = { name: "mcpreel-ts-server", version: "1.0.0" };
const OPTIONS = { instructions: "Ask me anything twice: the answer is the same." };

const home = resolve(process.argv[2]);
const load = (file) => import(pathToFileURL(join(home, file)));
const { z } = createRequire(join(home, "package.json"))("zod");
const text = (said, more) => ({ content: [{ type: "text", text: said }], ...more });
const memo = (uri, said) => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text: said }] });

const tools = {
    add: ["Add two integers.", { a: z.number(), b: z.number() }, ({ a, b }) => text(`${a + b}`)],
    echo: ["Give the text back.", { text: z.string() }, (args) => text(args.text)],
    weather: ["Two parts of content.", { city: z.string() }, ({ city }) => ({
        content: [{ type: "text", text: city }, { type: "text", text: "-1.5, clear, cold" }],
    })],
    slow: ["Answer late, so that a faster call overtakes it.", { ms: z.number() }, async ({ ms }) => {
        await new Promise((awake) => setTimeout(awake, ms));
        return text(`waited ${ms} ms`);
    }],
    fail: ["A tool error: an ordinary result with isError.", { why: z.string() },
        ({ why }) => text(why, { isError: true })],
    count: ["Count, with progress where the SDK lets a tool do that.", { to: z.number() },
        async ({ to }, context) => {
            const { progressToken } = (context.mcpReq ?? context)._meta ?? {};
            const notify = context.mcpReq?.notify ?? context.sendNotification;
            for (let i = 1; progressToken !== undefined && notify && i <= to; i++)
                await notify({
                    method: "notifications/progress",
                    params: { progressToken, progress: i, total: to, message: `step ${i} of ${to}` },
                });
            return text(`counted to ${to}`);
        }],
};
const today = (uri) => memo(uri, "buy tape\n");
const letter = (uri, { name }) => memo(uri, `Dear ${name},\n\tthis is "quoted" \\ and \u0001 is a control character.\n`);
const greet = ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Greet ${name} in a warm tone.` } }],
});

const jobs = process.argv.includes("--tasks") ? await jobsOf(load, z) : null;

function serverOf1({ McpServer, ResourceTemplate }) {
    const server = new McpServer(INFO, { ...OPTIONS, ...jobs?.options });
    for (const [name, [about, shape, run]] of Object.entries(tools))
        server.tool(name, about, shape, run);
    jobs?.add(server);
    server.resource("today", "memo://today", today);
    server.resource("letter", new ResourceTemplate("memo://letters/{name}", { list: undefined }), letter);
    server.prompt("greet", "A prompt with one required argument.", { name: z.string() }, greet);
    return server;
}

function serverOf2(parts) {
    const { McpServer, ResourceTemplate } = parts;
    const server = new McpServer(INFO, OPTIONS);
    for (const [name, [description, shape, run]] of Object.entries(tools))
        server.registerTool(name, { description, inputSchema: z.object(shape) }, run);
    server.registerResource("today", "memo://today", {}, today);
    server.registerResource("letter", new ResourceTemplate("memo://letters/{name}", { list: undefined }), {}, letter);
    server.registerPrompt("greet", {
        description: "A prompt with one required argument.",
        argsSchema: z.object({ name: z.string() }),
    }, greet);
    if (process.argv.includes("--stateless"))
        server.registerTool("ask", { description: "Ask for a name, then for a root.", inputSchema: z.object({}) }, askOf(parts));
    return server;
}

/* Two rounds; the name travels through the client. */
const askOf = ({ acceptedContent, inputRequired }) => (_, { mcpReq }) => {
    const name = acceptedContent(mcpReq.inputResponses, "name")?.name;
    const roots = mcpReq.inputResponses?.roots?.roots;
    if (roots)
        return text(`${mcpReq.requestState()} works in ${roots[0].uri}`);
    if (name)
        return inputRequired({ inputRequests: { roots: inputRequired.listRoots() }, requestState: name });
    return inputRequired({ inputRequests: { name: inputRequired.elicit({
        message: "Your name?", requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    }) } });
};

function listen(serve, path = "/mcp") {
    const http = createServer((req, res) => {
        serve(req, res).catch((error) => {
            console.error(error);
            res.destroy();
        });
    });
    http.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}${path}`));
}

/* A request without a session can only be the one that opens it. */
async function listenOf1(parts) {
    const { StreamableHTTPServerTransport } = await load("dist/esm/server/streamableHttp.js");
    const sessions = new Map();
    listen(async (req, res) => {
        const id = req.headers["mcp-session-id"];
        let transport = sessions.get(id);
        if (!transport && id) {
            res.writeHead(404).end();
            return;
        }
        if (!transport) {
            transport = new StreamableHTTPServerTransport({
                sessionIdGenerator: randomUUID,
                onsessioninitialized: (fresh) => sessions.set(fresh, transport),
            });
            transport.onclose = () => sessions.delete(transport.sessionId);
            await serverOf1(parts).connect(transport);
        }
        await transport.handleRequest(req, res);
    });
}

/* HTTP+SSE. The SDK names where to post by a path. */
async function listenSse(parts) {
    const { SSEServerTransport } = await load("dist/esm/server/sse.js");
    const sessions = new Map();
    listen(async (req, res) => {
        const url = new URL(req.url, "http://localhost");
        if (url.pathname === "/sse" && req.method === "GET") {
            const transport = new SSEServerTransport("/messages", res);
            sessions.set(transport.sessionId, transport);
            res.on("close", () => sessions.delete(transport.sessionId));
            await serverOf1(parts).connect(transport);
        } else if (url.pathname === "/messages" && sessions.has(url.searchParams.get("sessionId"))) {
            await sessions.get(url.searchParams.get("sessionId")).handlePostMessage(req, res);
        } else {
            res.writeHead(url.pathname === "/sse" ? 405 : 404).end();
        }
    }, "/sse");
}

async function listenOf2(parts) {
    const { toNodeHandler } = createRequire(join(home, "../../../package.json"))("@modelcontextprotocol/node");
    listen(toNodeHandler(parts.createMcpHandler(() => serverOf2(parts), protocol)));
}

const overHttp = process.argv[3] === "--http";
const protocol = process.argv.includes("--stateless") ? { legacy: "reject" } : {};
if (home.endsWith("/server")) {
    const parts = await load("dist/index.mjs");
    if (overHttp)
        await listenOf2(parts);
    else
        (await load("dist/stdio.mjs")).serveStdio(() => serverOf2(parts), protocol);
} else {
    const parts = await load("dist/esm/server/mcp.js");
    if (overHttp) {
        await listenOf1(parts);
    } else if (process.argv[3] === "--sse") {
        await listenSse(parts);
    } else {
        const { StdioServerTransport } = await load("dist/esm/server/stdio.js");
        await serverOf1(parts).connect(new StdioServerTransport());
    }
}
