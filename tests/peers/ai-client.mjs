#!/usr/bin/env node
/* A client on @ai-sdk/mcp, over Streamable HTTP: one of each thing that the session 'common' asks for.
 *
 *     node tests/peers/ai-client.mjs FOLDER URL
 *
 * FOLDER is where the group 'others' of tools/peers is installed. Prints one JSON document of all results. */
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, url] = process.argv.slice(2);
const { createMCPClient } =
    await import(pathToFileURL(join(resolve(folder), "node_modules/@ai-sdk/mcp/dist/index.js")));

const client = await createMCPClient({ transport: { type: "http", url } });
const call = (name, args) => client.callTool({ name, arguments: args });

const seen = {
    server: client.serverInfo,
    instructions: client.instructions ?? null,
    tools: await client.listTools(),
    called: [
        await call("add", { a: 2, b: 40 }),
        await call("echo", { text: "Grüße\t\"日本\" \\ 🎞 \u0001\u2028" }),
        ...await Promise.all([call("slow", { ms: 200 }), call("add", { a: -1, b: 1 })]),
        await call("fail", { why: "because" }),
        await call("no_such_tool", {}).catch(({ message }) => message),
    ],
    resources: await client.listResources(),
    read: [
        await client.readResource({ uri: "memo://today" }),
        await client.readResource({ uri: "memo://letters/Ada" }),
    ],
    templates: await client.listResourceTemplates(),
    prompts: await client.listPrompts(),
};
await client.close();
console.log(JSON.stringify(seen, null, 1));
