#!/usr/bin/env node
/* A scripted MCP client on one of the official TypeScript SDKs.
 *
 *     node tests/peers/ts-client.mjs --sdk FOLDER [--ids strings] [--era auto] SESSION.json -- COMMAND…
 *     node tests/peers/ts-client.mjs --sdk FOLDER […] [--transport sse] --url URL SESSION.json
 *
 * Starts COMMAND as its server on stdio, or goes to URL, plays the steps of SESSION.json and prints one JSON
 * document, keys sorted, of all it got to see; the README beside this file describes both. Nothing is normalised here:
 * what a server answered is printed as the SDK handed it over, so that a replay can be held to every
 * character of it.
 *
 * FOLDER is the installed package: '@modelcontextprotocol/sdk' of any 1.x, or
 * '@modelcontextprotocol/client' of 2.x. With the latter --era auto lets the SDK find out what the server
 * speaks, which on stdio it does with a second process of COMMAND; legacy (the default) opens with initialize.
 *
 * --transport sse: HTTP+SSE, the transport of 2024-11-05. --transport either: Streamable HTTP, and that if it is refused,
 * as the documentation of the SDK has it.
 *
 * --no-stream: over Streamable HTTP, without the stream on which a server says what belongs to no request.
 *
 * --ids strings: on the wire each request id and each progress token is a fresh random string instead
 * of the SDK's numbers, so that no two runs have one in common.
 *
 * Exit codes: 0 the session was played to its end, whatever the answers; 1 it could not be. */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const PATIENCE_MS = 30_000;
const TTL_MS = 60_000; // of tasks

function commandLine(argv) {
    const cut = argv.indexOf("--");
    const { values, positionals } = parseArgs({
        args: cut < 0 ? argv : argv.slice(0, cut),
        options: {
            sdk: { type: "string" },
            ids: { type: "string", default: "numbers" },
            era: { type: "string", default: "legacy" },
            transport: { type: "string", default: "http" },
            "no-stream": { type: "boolean", default: false },
            url: { type: "string" },
        },
        allowPositionals: true,
    });
    const command = cut < 0 ? [] : argv.slice(cut + 1);
    if (!values.sdk || positionals.length !== 1 || (command.length === 0) === (values.url === undefined)
        || !["http", "sse", "either"].includes(values.transport) || !["numbers", "strings"].includes(values.ids) || !["legacy", "auto"].includes(values.era))
        throw new Error("usage: ts-client.mjs --sdk FOLDER [--ids numbers|strings] [--era legacy|auto] "
            + "[--transport http|sse|either] [--no-stream] [--url URL] SESSION.json [-- COMMAND…]");
    return { ...values, session: positionals[0], command };
}

const options = commandLine(process.argv.slice(2));
const load = (file) => import(pathToFileURL(resolve(join(options.sdk, file))));

/* What the two generations of the SDK call differently. A 1.x names a method by the schema of its
 * message, of which old ones know fewer. */
async function sdkOf1() {
    const { Client } = await load("dist/esm/client/index.js");
    const types = await load("dist/esm/types.js");
    const schemas = {
        "elicitation/create": types.ElicitRequestSchema,
        "notifications/progress": types.ProgressNotificationSchema,
        "roots/list": types.ListRootsRequestSchema,
        "sampling/createMessage": types.CreateMessageRequestSchema,
    };
    return {
        Client,
        stdio: async () => (await load("dist/esm/client/stdio.js")).StdioClientTransport,
        http: async () => (await load("dist/esm/client/streamableHttp.js")).StreamableHTTPClientTransport,
        sse: async () => (await load("dist/esm/client/sse.js")).SSEClientTransport,
        knows: (method) => schemas[method] !== undefined,
        name: (method) => schemas[method],
        options: {},
        callTool: (client, params, o) => client.callTool(params, undefined, o),
        resultOfTool: types.CallToolResultSchema,
        isAnswer: (error) => error instanceof types.McpError,
        isRefusal: (error) => error.name === "ZodError", // an answer that is newer than the SDK
    };
}

async function sdkOf2() {
    const { Client, ProtocolError, SdkError, SSEClientTransport, StreamableHTTPClientTransport } = await load("dist/index.mjs");
    return {
        Client,
        stdio: async () => (await load("dist/stdio.mjs")).StdioClientTransport,
        http: async () => StreamableHTTPClientTransport,
        sse: async () => SSEClientTransport,
        knows: () => true,
        name: (method) => method,
        options: { versionNegotiation: { mode: options.era } },
        callTool: (client, params, o) => client.callTool(params, o),
        isAnswer: (error) => error instanceof ProtocolError,
        isRefusal: (error) => error instanceof SdkError,
    };
}

const sdk = await (existsSync(join(options.sdk, "dist/esm")) ? sdkOf1 : sdkOf2)();

/* Other names for request ids and progress tokens. The SDK inside keeps its own. */
class Names {
    constructor() {
        this.wire = new Map();
        this.own = new Map();
    }

    name(prefix, own) {
        const wire = `${prefix}-${randomUUID()}`;
        this.wire.set(`${prefix}-${own}`, wire);
        this.own.set(wire, own);
        return wire;
    }

    leaving(message) {
        const out = structuredClone(message);
        if (out.method === "notifications/cancelled")
            out.params.requestId = this.wire.get(`id-${out.params.requestId}`);
        if (out.method === undefined || out.id === undefined)
            return out;
        if (out.params?._meta?.progressToken !== undefined)
            out.params._meta.progressToken = this.name("token", out.params._meta.progressToken);
        out.id = this.name("id", out.id);
        return out;
    }

    /* The SDK's numbers start anew in each run, so a name of another run could pass for one of them. A
     * name nobody gave ends the session instead. */
    given(wire) {
        if (!this.own.has(wire))
            fail(new Error(`the server used the name ${JSON.stringify(wire)}, which this client never gave`));
        return this.own.get(wire);
    }

    arriving(message) {
        if (message.method === "notifications/progress")
            message.params.progressToken = this.given(message.params.progressToken);
        else if (message.method === undefined)
            message.id = this.given(message.id);
        return message;
    }
}

const calls = {
    "completion/complete": (client, params, o) => client.complete(params, o),
    "logging/setLevel": (client, params, o) => client.setLoggingLevel(params.level, o),
    "ping": (client, params, o) => client.ping(o),
    "prompts/get": (client, params, o) => client.getPrompt(params, o),
    "prompts/list": (client, params, o) => client.listPrompts(params, o),
    "resources/list": (client, params, o) => client.listResources(params, o),
    "resources/read": (client, params, o) => client.readResource(params, o),
    "resources/subscribe": (client, params, o) => client.subscribeResource(params, o),
    "resources/templates/list": (client, params, o) => client.listResourceTemplates(params, o),
    "resources/unsubscribe": (client, params, o) => client.unsubscribeResource(params, o),
    "tasks/cancel": (client, params, o) => client.experimental.tasks.cancelTask(params.taskId, o),
    "tasks/get": (client, params, o) => client.experimental.tasks.getTask(params.taskId, o),
    "tasks/list": (client, params, o) => client.experimental.tasks.listTasks(undefined, o),
    "tasks/result": (client, params, o) => client.experimental.tasks.getTaskResult(params.taskId, sdk.resultOfTool, o),
    "tools/call": (client, params, o) => sdk.callTool(client, params, o),
    "tools/list": (client, params, o) => client.listTools(params, o),
};

class Player {
    constructor(session) {
        this.session = session;
        this.received = [];
        this.listeners = new Map(); // by progress token
        this.wake = () => {};
        this.trouble = [];
        this.client = new sdk.Client({ name: "mcpreel-ts-client", version: "1.0.0" }, {
            capabilities: { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } },
            ...sdk.options,
        });
        this.client.onerror = (error) => this.trouble.push(error.message);
        this.client.setNotificationHandler(sdk.name("notifications/progress"), ({ params }) => this.onprogress(params));
        this.client.fallbackNotificationHandler = async ({ method, params }) => this.addReceived(method, params);
        for (const method of ["sampling/createMessage", "elicitation/create", "roots/list"].filter(sdk.knows))
            this.client.setRequestHandler(sdk.name(method), ({ params }) => {
                this.addReceived(method, params);
                return session.answers[method];
            });
    }

    addReceived(method, params) {
        this.received.push({ method, params: params ?? {} });
        this.wake();
    }

    /* The SDK puts its own words and the code before the server's message. */
    static error({ code, message, data }) {
        return { code, message: message.replace(`MCP error ${code}: `, ""), data };
    }

    /* Progress is gathered here and not by the SDK's own callback: the SDK runs notification handlers one
     * turn late but drops the callback as soon as the answer is parsed, so progress that arrives in one
     * read with its answer is lost, and the document would depend on how the bytes were cut. */
    onprogress({ progressToken, ...progress }) {
        const listener = this.listeners.get(progressToken);
        if (listener)
            listener(progress);
        else
            this.trouble.push(`progress for an unknown token: ${JSON.stringify(progress)}`);
    }

    listen(params, seen, onfirst) {
        seen.progress = [];
        params._meta = { progressToken: this.listeners.size };
        this.listeners.set(this.listeners.size, (progress) => {
            seen.progress.push(progress);
            onfirst?.();
        });
    }

    async ask(step, signal, onfirst) {
        const seen = {};
        const params = step.params === undefined ? undefined : structuredClone(step.params);
        if (params?.taskId === "{task}")
            params.taskId = this.task;
        if (step.progress)
            this.listen(params, seen, onfirst);
        try {
            seen.result = await calls[step.ask](this.client, params, { timeout: PATIENCE_MS, signal });
        } catch (error) {
            if (signal?.aborted)
                seen.cancelled = true;
            else if (sdk.isAnswer(error))
                seen.error = Player.error(error);
            else if (sdk.isRefusal(error))
                seen.refused = error.message;
            else
                throw error;
        }
        return seen;
    }

    /* A call as a task, polled to its end and until the server has told of that on its own. How often it is polled
     * depends on the speed of the machine, so states that follow each other and are the same count as one. */
    async work(step) {
        const seen = { states: [] };
        const params = structuredClone(step.job);
        let last;
        if (step.progress)
            this.listen(params, seen);
        for await (const { type, task, result, error } of this.client.experimental.tasks.callToolStream(
            params, sdk.resultOfTool, { task: { ttl: TTL_MS }, timeout: PATIENCE_MS })) {
            if (type === "result")
                seen.result = result;
            else if (type === "error")
                seen.error = Player.error(error);
            else if (task.status !== last?.status)
                seen.states.push(last = task);
            this.task = last?.taskId;
            if (step.leave)
                return seen;
        }
        await this.until((one) => one.method === "notifications/tasks/status" && one.params.taskId === last.taskId
            && one.params.status === last.status, 0);
        return seen;
    }

    async cancel(step) {
        const abort = new AbortController();
        return this.ask({ ...step, progress: true }, abort.signal, () => abort.abort("enough"));
    }

    async until(isIt, from) {
        const deadline = Date.now() + PATIENCE_MS;
        while (!this.received.slice(from).some(isIt)) {
            if (Date.now() > deadline)
                throw new Error(`what was waited for did not come: ${isIt}`);
            await new Promise((resolve) => {
                this.wake = resolve;
                setTimeout(resolve, 1000).unref();
            });
        }
    }

    async tell(method) {
        if (method !== "notifications/roots/list_changed")
            throw new Error(`cannot tell '${method}'`);
        await this.client.sendRootsListChanged();
    }

    async play(step, from) {
        let seen = {};
        if (step.ask)
            seen = await this.ask(step);
        else if (step.job)
            seen = await this.work(step);
        else if (step.together)
            seen = { together: await Promise.all(step.together.map((one) => (one.job ? this.work(one) : this.ask(one)))) };
        else if (step.cancel)
            seen = await this.cancel(step.cancel);
        if (step.tell)
            await this.tell(step.tell);
        if (step.until)
            await this.until(({ method }) => method === step.until, from);
        return seen;
    }

    async run(transport) {
        const steps = [];
        let from = 0;
        for (const step of this.session.steps) {
            const seen = await this.play(step, from);
            await new Promise(setImmediate); // let the handlers of what came before the answer finish
            steps.push({ step, ...seen, heard: this.received.slice(from) });
            from = this.received.length;
        }
        const server = {
            capabilities: this.client.getServerCapabilities(),
            info: this.client.getServerVersion(),
            instructions: this.client.getInstructions() ?? null,
            protocol: this.client.getNegotiatedProtocolVersion?.() ?? transport.protocol,
        };
        await transport.terminateSession?.();
        await this.client.close();
        return { server, steps, trouble: this.trouble };
    }
}

/* Lets `see` have every message that arrives, and give the SDK another one for it. */
function overhear(transport, see) {
    let deliver;
    Object.defineProperty(transport, "onmessage", {
        get: () => deliver,
        set: (next) => {
            deliver = next && ((message, extra) => next(see(message), extra));
        },
    });
}

/* On the wire each request id and each progress token gets a name that nobody else has. */
function rename(transport) {
    const names = new Names();
    const send = transport.send.bind(transport);
    transport.send = (message, how) => send(names.leaving(message), how);
    return (message) => names.arriving(message);
}

/* To the SDK a server that answers so has no such stream, which is no trouble. */
const fetchWithoutStream = async (url, how) =>
    (how?.method ?? "GET") === "GET" ? new Response(null, { status: 405 }) : fetch(url, how);

async function open(kind) {
    if (options.url)
        return new (await sdk[kind]())(new URL(options.url), options["no-stream"] ? { fetch: fetchWithoutStream } : {});
    const [command, ...args] = options.command;
    return new (await sdk.stdio())({ command, args, env: process.env, stderr: "inherit" });
}

const sorted = (key, value) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value;

function fail(error) {
    console.error(`ts-client: ${error.stack}`);
    process.exit(1);
}

async function play(kind) {
    const transport = await open(kind);
    const arriving = options.ids === "strings" ? rename(transport) : (message) => message;
    overhear(transport, (message) => {
        transport.protocol ??= message.result?.protocolVersion; // no SDK tells it to whoever drives it over stdio
        return arriving(message);
    });
    const player = new Player(JSON.parse(readFileSync(options.session, "utf8")));
    await player.client.connect(transport, { timeout: PATIENCE_MS });
    return player.run(transport);
}

async function playEither() {
    try {
        return await play("http");
    } catch (error) {
        if (![400, 404, 405].includes(error.code) && !/HTTP 40[045]/.test(error.message))
            throw error;
        console.error(`ts-client: falls back: ${error.message}`);
        return play("sse");
    }
}

try {
    const document = await (options.transport === "either" ? playEither() : play(options.transport));
    console.log(JSON.stringify(document, sorted, 1));
} catch (error) {
    fail(error);
}
