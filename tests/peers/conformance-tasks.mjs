/* Tasks of 2026-07-28 for the conformance server: an extension that the SDK does not have.
 *
 * 'tools' are what a client without the extension can call, as [what it is, arguments, what it does], and what the
 * list shows. A client that declares the extension gets a task for each call of a job instead; 'answer' gives
 * what to say to such a call and to the methods of tasks, and null to everything that is not about tasks. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

export const EXTENSION = "io.modelcontextprotocol/tasks";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const SHORT_MS = 300;
const TERMINAL = ["completed", "failed", "cancelled"];

const say = (text, more) => ({ content: [{ type: "text", text }], ...more });
const ask = (message, properties) => ({
    method: "elicitation/create",
    params: { mode: "form", message, requestedSchema: { type: "object", properties, required: Object.keys(properties) } },
});
const NAME = { name: { type: "string" } };
const CONFIRM = { confirm: { type: "boolean" } };

/* Each gets the arguments and a way to ask; what it returns is the result, what it throws the error of the task.
 * `first` is to be answered before there is a task at all; without tasks a `required` one cannot be had. */
const jobs = {
    slow_compute: {
        run: async ({ seconds, label }, { signal }) => {
            await sleep(seconds * 1000, null, { signal, ref: false });
            return say(`${label} took ${seconds} s`);
        },
    },
    failing_job: {
        required: true,
        run: async () => {
            await sleep(SHORT_MS);
            return say("it did not work out", { isError: true });
        },
    },
    protocol_error_job: {
        run: async () => {
            await sleep(SHORT_MS);
            throw new Error("the job broke");
        },
    },
    confirm_delete: {
        run: async ({ filename }, { input }) => {
            await input({ confirm: ask(`Delete ${filename}?`, CONFIRM) });
            return say(`deleted ${filename}`);
        },
    },
    multi_input: {
        run: async (_, { input }) => {
            const given = await input({ one: ask("The one?", NAME), other: ask("The other?", NAME) });
            return say(`given: ${Object.keys(given).sort().join(" ")}`);
        },
    },
    test_tool_with_task: {
        first: { user_name: ask("What is your name?", NAME) },
        run: async (_, { given }) => say(`Hello, ${given.user_name.content.name}!`),
    },
};

export const toolsOf = (z) => ({
    greet: ["Never a task.", z.object({ name: z.string() }), ({ name }) => say(`Hello, ${name}!`)],
    slow_compute: ["Takes its time.", z.object({ seconds: z.number(), label: z.string() }),
        (args) => jobs.slow_compute.run(args, {})],
    confirm_delete: ["Asks before it deletes.", z.object({ filename: z.string() }), () => say("nothing was deleted")],
    ...Object.fromEntries(["failing_job", "protocol_error_job", "multi_input", "test_tool_with_task"].map(
        (name) => [name, ["A job.", z.object({}), () => say("only as a task")]])),
});

class Task {
    constructor(job, args, given) {
        const now = new Date().toISOString();
        this.seen = { taskId: randomUUID(), status: "working", createdAt: now, lastUpdatedAt: now, ttlMs: 60_000,
            pollIntervalMs: 100 };
        this.stop = new AbortController();
        const tools = { given, signal: this.stop.signal, input: (requests) => this.input(requests) };
        job.run(args, tools).then(
            (result) => this.become("completed", { result }),
            (error) => this.become("failed", { error: { code: -32603, message: error.message } }));
    }

    become(status, more) {
        if (TERMINAL.includes(this.seen.status))
            return;
        const { inputRequests, ...kept } = this.seen;
        this.seen = { ...kept, ...more, status, lastUpdatedAt: new Date().toISOString() };
    }

    input(requests) {
        this.given = {};
        this.become("input_required", { inputRequests: requests });
        return new Promise((resume) => {
            this.resume = resume;
        });
    }

    update(responses) {
        const open = { ...this.seen.inputRequests };
        for (const key of Object.keys(open).filter((one) => one in responses)) {
            this.given[key] = responses[key];
            delete open[key];
        }
        if (Object.keys(open).length) {
            this.become("input_required", { inputRequests: open });
        } else {
            this.become("working");
            this.resume?.(this.given);
        }
    }

    cancel() {
        this.become("cancelled");
        this.stop.abort();
    }
}

const tasks = new Map();

const methods = {
    "tasks/get": (task) => ({ resultType: "complete", ...task.seen }),
    "tasks/update": (task, { inputResponses }) => {
        task.update(inputResponses);
        return { resultType: "complete" };
    },
    "tasks/cancel": (task) => {
        task.cancel();
        return { resultType: "complete" };
    },
};

function start(job, { arguments: args = {}, inputResponses = {} }) {
    if (job.first && !Object.keys(job.first).every((key) => key in inputResponses))
        return { resultType: "input_required", inputRequests: job.first };
    const task = new Task(job, args, inputResponses);
    tasks.set(task.seen.taskId, task);
    return { resultType: "task", ...task.seen };
}

/* {status, body} of an HTTP response. */
export function answer({ id, method, params = {} }, headers) {
    const job = method === "tools/call" ? jobs[params.name] : undefined;
    const about = methods[method];
    const declared = params._meta?.[CAPABILITIES]?.extensions?.[EXTENSION];
    const refuse = (status, code, message, data) => ({ status, body: { jsonrpc: "2.0", id, error: { code, message, data } } });
    const accept = (result) => ({ status: 200, body: { jsonrpc: "2.0", id, result } });
    if (!about && !(job && (declared || job.required)))
        return null;
    const name = about ? params.taskId : params.name;
    if (headers["mcp-method"] !== method || headers["mcp-name"] !== name)
        return refuse(400, -32020, "Headers do not match the body");
    if (!declared)
        return refuse(400, -32021, "Tasks are required", { requiredCapabilities: { extensions: { [EXTENSION]: {} } } });
    if (job)
        return accept(start(job, params));
    const task = tasks.get(params.taskId);
    return task ? accept(about(task, params)) : refuse(200, -32602, "No such task");
}
