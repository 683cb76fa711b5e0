/* Tools that are tasks of 2025-11-25, for the server on the TypeScript SDK 1.x: what the session 'tasks' asks for.
 *
 * 'options' are what a server with tasks is made with, for as many sessions as there are; 'add' gives it the tools. But
 * for the ids and times of tasks, all that they say depends only on what they are asked. */
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 50;
const TAKES_MS = 120; // more than one poll

const text = (said, more) => ({ content: [{ type: "text", text: said }], ...more });

/* Each gets its arguments and a way to talk to the client; what it returns is the status and the result of the task. */
const jobsWith = (z, ElicitResultSchema) => ({
    tally: ["Count, with progress.", { to: z.number() }, async ({ to }, { tell, token }) => {
        for (let i = 1; i <= to; i++) {
            await sleep(TAKES_MS / to);
            if (token !== undefined)
                await tell({
                    method: "notifications/progress",
                    params: { progressToken: token, progress: i, total: to, message: `step ${i} of ${to}` },
                });
        }
        return ["completed", text(`counted to ${to}`, { structuredContent: { to } })];
    }],
    break: ["A task that fails.", { why: z.string() }, async ({ why }) => {
        await sleep(TAKES_MS);
        return ["failed", text(why, { isError: true })];
    }],
    confirm: ["Ask before going on.", { what: z.string() }, async ({ what }, { ask }) => {
        await sleep(TAKES_MS);
        const { action, content } = await ask({
            method: "elicitation/create",
            params: {
                mode: "form",
                message: `Really ${what}?`,
                requestedSchema: { type: "object", properties: { sure: { type: "boolean" } }, required: ["sure"] },
            },
        }, ElicitResultSchema);
        return ["completed", text(`${action}: ${JSON.stringify(content ?? null)}`)];
    }],
    wait: ["Never ends by itself.", {}, () => new Promise(() => {})],
});

export async function jobsOf(load, z) {
    const { InMemoryTaskMessageQueue, InMemoryTaskStore } = await load("dist/esm/experimental/tasks/stores/in-memory.js");
    const { ElicitResultSchema } = await load("dist/esm/types.js");
    const jobs = jobsWith(z, ElicitResultSchema);
    const options = {
        capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
        taskStore: new InMemoryTaskStore(),
        taskMessageQueue: new InMemoryTaskMessageQueue(),
    };
    const make = (server, run) => async (args, { _meta, sendRequest, taskRequestedTtl, taskStore }) => {
        const task = await taskStore.createTask({ ttl: taskRequestedTtl, pollInterval: POLL_MS });
        const related = { relatedTask: { taskId: task.taskId } };
        run(args, {
            token: _meta?.progressToken,
            tell: (notification) => server.server.notification(notification, related),
            ask: (request, schema) => sendRequest(request, schema, related),
        }).then((end) => taskStore.storeTaskResult(task.taskId, ...end));
        return { task };
    };
    const add = (server) => {
        for (const [name, [description, inputSchema, run]] of Object.entries(jobs))
            server.experimental.tasks.registerToolTask(name, { description, inputSchema }, {
                createTask: make(server, run),
                getTask: (args, { taskId, taskStore }) => taskStore.getTask(taskId),
                getTaskResult: (args, { taskId, taskStore }) => taskStore.getTaskResult(taskId),
            });
    };
    return { options, add };
}
