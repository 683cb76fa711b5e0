#!/usr/bin/env node
/* An MCP server on the official TypeScript SDK 2.x, over Streamable HTTP: everything that the server
 * scenarios of the official conformance suite request, in both protocol generations.
 *
 *     node tests/peers/conformance-server.mjs FOLDER [--stdio]
 *
 * FOLDER is where the group 'conformance' of tools/peers is installed. Listens on a free port of the loopback
 * interface, says the URL in one line on stdout, and serves until its stdin ends. With --stdio it serves there
 * instead, one client of either protocol generation; it has no tasks then.
 *
 * A request of 2026-07-28 gets a server of its own; a session of an older revision keeps one, with an event
 * store, so that its streams can be resumed. The names, texts and schemas are those the suite looks for. */
import { randomBytes, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { EXTENSION, answer, toolsOf } from "./conformance-tasks.mjs";

const need = createRequire(join(resolve(process.argv[2]), "package.json"));
const {
    CLIENT_CAPABILITIES_META_KEY, McpServer, ResourceTemplate, acceptedContent, createMcpHandler,
    createRequestStateCodec, fromJsonSchema, inputRequired, isInitializeRequest, isLegacyRequest,
} = need("@modelcontextprotocol/server");
const {
    NodeStreamableHTTPServerTransport, localhostHostValidation, localhostOriginValidation, toNodeHandler,
    toWebRequest,
} = need("@modelcontextprotocol/node");
const { z } = need("zod");

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
const PACE_MS = 50; // between the notifications of one call
const RETRY_MS = 500; // what a client is told to wait before it resumes a stream

/* Content. */

const text = (said) => ({ type: "text", text: said });
const image = () => ({ type: "image", data: PIXEL, mimeType: "image/png" });
const audio = () => ({ type: "audio", data: SILENCE, mimeType: "audio/wav" });
const resource = (uri, mimeType, said) => ({ type: "resource", resource: { uri, mimeType, text: said } });
const result = (...content) => ({ content });
const say = (said) => result(text(said));
const from = (content) => ({ role: "user", content });

/* What the server asks of the client: as a request within a session, or inside a result in 2026-07-28. */

const object = (properties, required = Object.keys(properties)) => ({ type: "object", properties, required });
const form = (message, properties) => ({ message, requestedSchema: object(properties) });
const NAME = form("What is your name?", { name: { type: "string" } });
const CONFIRM = form("Please confirm", { ok: { type: "boolean" } });
const sampling = (prompt, maxTokens) => ({ messages: [from(text(prompt))], maxTokens });

const DEFAULTS = {
    name: { type: "string", description: "A name", default: "John Doe" },
    age: { type: "integer", description: "In years", default: 30 },
    score: { type: "number", description: "Of 100", default: 95.5 },
    status: { type: "string", description: "One of three", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", description: "Whether somebody looked", default: true },
};
const titled = (...names) => names.map((title, i) => ({ const: `value${i + 1}`, title }));
const OPTIONS = ["option1", "option2", "option3"];
const ENUMS = {
    untitledSingle: { type: "string", enum: OPTIONS },
    titledSingle: { type: "string", oneOf: titled("One", "Two", "Three") },
    legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
    untitledMulti: { type: "array", minItems: 1, maxItems: 3, items: { type: "string", enum: OPTIONS } },
    titledMulti: { type: "array", minItems: 1, maxItems: 3, items: { anyOf: titled("Red", "Green", "Blue") } },
};

const elicit = (params) => async (_, { mcpReq }) => {
    const { action, content } = await mcpReq.send({ method: "elicitation/create", params });
    return say(`the user chose to ${action}: ${JSON.stringify(content ?? {})}`);
};

/* A tool of several rounds. `wants` tells, of a call, what is still to be asked, and null once that is nothing;
 * `done` makes the result. With `sealed`, the state travels through the client, who must not change it. */

const codec = createRequestStateCodec({ key: randomBytes(32) });

const rounds = ({ wants, done, sealed }) => async (_, { mcpReq }) => {
    const call = {
        given: mcpReq.inputResponses ?? {},
        accepted: (key) => acceptedContent(mcpReq.inputResponses, key),
        state: mcpReq.requestState() ?? {},
        may: mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {},
    };
    const inputRequests = wants(call);
    if (!inputRequests)
        return done(call);
    const requestState = sealed && await codec.mint({ ...sealed(call), nonce: randomUUID() });
    return inputRequired({ inputRequests, ...(requestState && { requestState }) });
};

const askName = () => inputRequired.elicit(NAME);
const askConfirm = () => ({ confirm: inputRequired.elicit(CONFIRM) });
const askSampling = (...of) => inputRequired.createMessage(sampling(...of));
const spoken = (response) => response?.content?.text;
const unless = (there, requests) => (there ? null : requests());

const STEPS = [
    ["step1", form("Step 1: What is your name?", { name: { type: "string" } })],
    ["step2", form("Step 2: What is your favorite color?", { color: { type: "string" } })],
];

const severalRounds = {
    test_missing_capability: rounds({
        wants: ({ given }) => unless(given.answer, () => ({ answer: askSampling("Say anything.", 16) })),
        done: ({ given }) => say(spoken(given.answer)),
    }),
    test_input_required_result_elicitation: rounds({
        wants: ({ accepted }) => unless(typeof accepted("user_name")?.name === "string", () => ({ user_name: askName() })),
        done: ({ accepted }) => say(`Hello, ${accepted("user_name").name}!`),
    }),
    test_input_required_result_sampling: rounds({
        wants: ({ given }) => unless(given.capital_question,
            () => ({ capital_question: askSampling("What is the capital of France?", 100) })),
        done: ({ given }) => say(`the model says: ${spoken(given.capital_question)}`),
    }),
    test_input_required_result_list_roots: rounds({
        wants: ({ given }) => unless(given.client_roots?.roots, () => ({ client_roots: inputRequired.listRoots() })),
        done: ({ given }) => say(`roots: ${given.client_roots.roots.map((root) => root.uri).join(" ")}`),
    }),
    test_input_required_result_request_state: rounds({
        wants: ({ accepted, state }) => unless(accepted("confirm") && state.of, askConfirm),
        sealed: () => ({ of: "request_state" }),
        done: () => say("state-ok: it came back as it left"),
    }),
    test_input_required_result_tampered_state: rounds({
        wants: ({ accepted, state }) => unless(accepted("confirm") && state.of, askConfirm),
        sealed: () => ({ of: "tampered_state" }),
        done: () => say("nobody touched the state"),
    }),
    test_input_required_result_multiple_inputs: rounds({
        wants: ({ given, accepted }) => unless(accepted("user_name") && spoken(given.greeting) && given.client_roots?.roots,
            () => ({
                user_name: askName(),
                greeting: askSampling("Generate a greeting", 50),
                client_roots: inputRequired.listRoots(),
            })),
        sealed: () => ({ of: "multiple_inputs" }),
        done: ({ given, accepted }) => say(`${spoken(given.greeting)} ${accepted("user_name").name}`),
    }),
    test_input_required_result_multi_round: rounds({
        wants: ({ state }) => {
            const [key, ask] = STEPS[state.round ?? 0] ?? [];
            return key ? { [key]: inputRequired.elicit(ask) } : null;
        },
        sealed: ({ state, accepted }) => ({ round: (state.round ?? 0) + 1, name: accepted("step1")?.name }),
        done: ({ state, accepted }) => say(`${state.name} likes ${accepted("step2")?.color}`),
    }),
    test_input_required_result_capabilities: rounds({
        wants: ({ given, may }) => {
            const asks = {
                ...(may.elicitation && { user_name: askName() }),
                ...(may.sampling && { greeting: askSampling("Generate a greeting", 50) }),
                ...(may.roots && { client_roots: inputRequired.listRoots() }),
            };
            return Object.keys(given).length || !Object.keys(asks).length ? null : asks;
        },
        done: () => say("only what the client can do was asked"),
    }),
};

/* The other tools: [what it is, arguments, what it does]. */

const NOTHING = z.object({});

async function log(_, { mcpReq }) {
    for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await mcpReq.notify({ method: "notifications/message", params: { level: "info", data } });
        await sleep(PACE_MS);
    }
    return say("three lines were logged");
}

async function progress(_, { mcpReq }) {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
        await mcpReq.notify({
            method: "notifications/progress",
            params: { progressToken, progress, total: 100, message: `${progress} of 100` },
        });
        await sleep(PACE_MS);
    }
    return say(`progress went to ${JSON.stringify(progressToken)}`);
}

/* The client has to come back for the result. */
async function hangUp(_, { mcpReq, sessionId }) {
    sessions.get(sessionId).closeSSEStream(mcpReq.id);
    await sleep(PACE_MS);
    return say("you came back");
}

const DIALECT = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
        address: {
            $anchor: "addressDef",
            type: "object",
            properties: { street: { type: "string" }, city: { type: "string" } },
        },
    },
    properties: {
        name: { type: "string" },
        address: { $ref: "#/$defs/address" },
        contactMethod: { type: "string", enum: ["phone", "email"] },
        phone: { type: "string" },
        email: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
};
const MIRRORED = {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" }, level: { type: "integer" } },
};

const tools = {
    test_simple_text: ["One text.", NOTHING, () => say("This is a simple text response for testing.")],
    test_image_content: ["An image.", NOTHING, () => result(image())],
    test_audio_content: ["A sound.", NOTHING, () => result(audio())],
    test_embedded_resource: ["A resource in the result.", NOTHING,
        () => result(resource("test://embedded-resource", "text/plain", "This is an embedded resource content."))],
    test_multiple_content_types: ["Text, image and resource.", NOTHING,
        () => result(text("Multiple content types test:"), image(),
            resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'))],
    test_error_handling: ["Always fails.", NOTHING, () => {
        throw new Error("This tool intentionally returns an error for testing");
    }],
    test_tool_with_logging: ["Logs three lines.", NOTHING, log],
    test_logging_tool: ["Logs a line for those who asked for it.", NOTHING, async (_, { mcpReq }) => {
        await mcpReq.log("info", "somebody asked for this line");
        return say("logged");
    }],
    test_tool_with_progress: ["Three steps of progress.", NOTHING, progress],
    test_reconnection: ["Closes its stream before it answers.", NOTHING, hangUp],
    test_sampling: ["Asks the model of the client.", z.object({ prompt: z.string() }), async ({ prompt }, { mcpReq }) => {
        const said = await mcpReq.send({ method: "sampling/createMessage", params: sampling(prompt, 100) });
        return say(`the model says: ${spoken(said)}`);
    }],
    test_elicitation: ["Asks the user of the client.", z.object({ message: z.string() }), ({ message }, context) =>
        elicit(form(message, {
            username: { type: "string", description: "Who" },
            email: { type: "string", description: "Where" },
        }))(null, context)],
    test_elicitation_sep1034_defaults: ["Asks with defaults.", NOTHING,
        elicit({ message: "Is this right?", requestedSchema: object(DEFAULTS, []) })],
    test_elicitation_sep1330_enums: ["Asks with every kind of choice.", NOTHING,
        elicit({ message: "Choose", requestedSchema: object(ENUMS, []) })],
    json_schema_2020_12_tool: ["Has a schema of many words.", fromJsonSchema(DIALECT), (args) => say(JSON.stringify(args))],
    test_x_mcp_header: ["Has an argument that is also a header.", fromJsonSchema(MIRRORED),
        ({ region }) => say(`region ${region ?? "unknown"}`)],
    test_streaming_elicitation: ["Asks nothing, and so sends no request.", NOTHING, () => say("only a result")],
    test_trigger_tool_change: ["Tells those who listen that the tools changed.", NOTHING, () => {
        notify.toolsChanged();
        return say("told");
    }],
    test_trigger_prompt_change: ["Tells those who listen that the prompts changed.", NOTHING, () => {
        notify.promptsChanged();
        return say("told");
    }],
};
for (const [name, run] of Object.entries(severalRounds))
    tools[name] = ["Takes several rounds.", NOTHING, run];
Object.assign(tools, toolsOf(z));

/* Resources and prompts. */

const contents = (uri, mimeType, of) => ({ contents: [{ uri, mimeType, ...of }] });

const resources = {
    "test://static-text": ["text/plain", { text: "This is the content of the static text resource." }],
    "test://static-binary": ["image/png", { blob: PIXEL }],
    "test://watched-resource": ["text/plain", { text: "Nothing has changed yet." }],
};

const promptArguments = (...names) => z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
const messages = (...of) => ({ messages: of.map(from) });

const prompts = {
    test_simple_prompt: [NOTHING, () => messages(text("This is a simple prompt for testing."))],
    test_prompt_with_arguments: [promptArguments("arg1", "arg2"),
        ({ arg1, arg2 }) => messages(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    test_prompt_with_embedded_resource: [promptArguments("resourceUri"), ({ resourceUri }) =>
        messages(resource(resourceUri, "text/plain", "What the prompt is about."), text("What does it say?"))],
    test_prompt_with_image: [NOTHING, () => messages(image(), text("What does it show?"))],
    test_input_required_result_prompt: [NOTHING, rounds({
        wants: ({ accepted }) => unless(accepted("user_context"), () => ({
            user_context: inputRequired.elicit(form("What context should the prompt use?", { context: { type: "string" } })),
        })),
        done: ({ accepted }) => messages(text(`Mind this: ${accepted("user_context").context}`)),
    })],
};

function serverOf() {
    const server = new McpServer({ name: "mcpreel-conformance-server", version: "1.0.0" }, {
        capabilities: {
            tools: { listChanged: true },
            prompts: { listChanged: true },
            resources: { listChanged: true, subscribe: true },
            logging: {},
            completions: {},
            extensions: { [EXTENSION]: {} },
        },
        requestState: { verify: codec.verify },
    });
    for (const [name, [description, inputSchema, run]] of Object.entries(tools))
        server.registerTool(name, { description, inputSchema }, run);
    for (const [uri, [mimeType, of]] of Object.entries(resources))
        server.registerResource(uri.slice("test://".length), uri, { description: "A resource that stays.", mimeType },
            () => contents(uri, mimeType, of));
    server.registerResource("template", new ResourceTemplate("test://template/{id}/data", { list: undefined }),
        { description: "A resource for each id.", mimeType: "application/json" },
        ({ href }, { id }) => contents(href, "application/json", { text: JSON.stringify({ id, templateTest: true }) }));
    for (const [name, [argsSchema, run]] of Object.entries(prompts))
        server.registerPrompt(name, { description: "A prompt.", argsSchema }, run);
    for (const method of ["resources/subscribe", "resources/unsubscribe", "logging/setLevel"])
        server.server.setRequestHandler(method, () => ({}));
    server.server.setRequestHandler("completion/complete",
        ({ params }) => ({ completion: { values: [`${params.argument.value}1`], total: 1, hasMore: false } }));
    return server;
}

/* HTTP. */

const sessions = new Map(); // by session id
const modern = createMcpHandler(serverOf, { legacy: "reject" });
let notify = modern.notify; // all who listen
const serveModern = toNodeHandler(modern);
const guards = [localhostHostValidation(), localhostOriginValidation()];

/* Keeps every event of a session. An id names the stream and how far it had come. */
class Events {
    constructor() {
        this.kept = [];
    }

    async storeEvent(stream, message) {
        return `${stream}/${this.kept.push({ stream, message })}`;
    }

    async replayEventsAfter(last, { send }) {
        const [, stream, seen] = /^(.*)\/(\d+)$/.exec(last) ?? [];
        for (let i = Number(seen); i < this.kept.length; i++) {
            const { stream: of, message } = this.kept[i];
            if (of === stream && Object.keys(message).length) // a priming event has no message
                await send(`${stream}/${i + 1}`, message);
        }
        return stream;
    }
}

function reply(res, { status, body }) {
    res.writeHead(status, { "content-type": "application/json" });
    res.end(JSON.stringify(body));
}

function refuse(res, status, code, message) {
    reply(res, { status, body: { jsonrpc: "2.0", id: null, error: { code, message } } });
}

async function open(req, res, body) {
    const transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        eventStore: new Events(),
        retryInterval: RETRY_MS,
        onsessioninitialized: (id) => sessions.set(id, transport),
    });
    transport.onclose = () => sessions.delete(transport.sessionId);
    await serverOf().connect(transport);
    await transport.handleRequest(req, res, body);
}

async function serveLegacy(req, res, body) {
    const id = req.headers["mcp-session-id"];
    if (sessions.has(id))
        await sessions.get(id).handleRequest(req, res, body);
    else if (id !== undefined)
        refuse(res, 404, -32001, "Session not found");
    else if (isInitializeRequest(body))
        await open(req, res, body);
    else
        refuse(res, 400, -32000, "Session ID required");
}

async function read(req) {
    const chunks = [];
    for await (const chunk of req)
        chunks.push(chunk);
    return JSON.parse(Buffer.concat(chunks).toString());
}

async function serve(req, res) {
    if (!guards.every((passes) => passes(req, res)))
        return;
    if (new URL(req.url, "http://localhost").pathname !== "/mcp") {
        refuse(res, 404, -32000, "Not here");
        return;
    }
    let body;
    try {
        body = req.method === "POST" ? await read(req) : undefined;
    } catch {
        refuse(res, 400, -32700, "Parse error");
        return;
    }
    if (await isLegacyRequest(await toWebRequest(req, body))) {
        await serveLegacy(req, res, body);
        return;
    }
    const ofTasks = body && answer(body, req.headers);
    if (ofTasks)
        reply(res, ofTasks);
    else
        await serveModern(req, res, body);
}

const http = createServer((req, res) => {
    serve(req, res).catch((error) => {
        console.error(error);
        res.destroy();
    });
});
if (process.argv[3] === "--stdio") {
    need("@modelcontextprotocol/server/stdio").serveStdio(() => {
        const server = serverOf();
        notify = { toolsChanged: () => server.sendToolListChanged(), promptsChanged: () => server.sendPromptListChanged() };
        return server;
    });
} else {
    http.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
    process.stdin.on("end", () => process.exit(0)).resume();
}
